#include "server/http/dashboard/login_cookie.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::http::dashboard {
namespace {

constexpr char kAttributes[] = "; HttpOnly; SameSite=Strict; Path=/; Max-Age=";
constexpr char kSecure[] = "; Secure";
constexpr int kSecondsMax = 12 * 60 * 60;

std::vector<absl::string_view> ValuesOf(const Head& head, absl::string_view name) {
  std::vector<absl::string_view> values;
  for (const auto& [field, cookies] : head.fields) {
    if (field != "cookie") continue;
    for (const absl::string_view cookie : absl::StrSplit(cookies, ';')) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(cookie, absl::MaxSplits('=', 1));
      if (absl::StripAsciiWhitespace(parts.first) == name) {
        values.push_back(absl::StripAsciiWhitespace(parts.second));
      }
    }
  }
  return values;
}

}  // namespace

bool IsToken(absl::string_view text) {
  return !text.empty() && text.size() <= kTokenBytesMax &&
         std::ranges::all_of(text, [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  absl::StrContains("-._~+/=", c);
         });
}

absl::StatusOr<std::optional<std::string>> TokenOf(const Head& head, bool has_tls) {
  std::vector<absl::string_view> values = ValuesOf(head, kSecureCookie);
  // Without TLS here a proxy may end it, behind which the browser has the other one.
  if (values.empty() && !has_tls) values = ValuesOf(head, kCookie);
  if (values.empty()) return std::nullopt;
  if (values.size() > 1) {
    return absl::InvalidArgumentError(
        "the log-in cookie came twice: remove the cookies of this site in the browser, and log in "
        "again");
  }
  if (!IsToken(values.front())) {
    return absl::InvalidArgumentError("the log-in cookie holds no bearer token: log in again");
  }
  return std::string(values.front());
}

Fields KeepCookie(absl::string_view token, bool is_secure) {
  return {{"Set-Cookie", absl::StrCat(is_secure ? kSecureCookie : kCookie, "=", token, kAttributes,
                                      kSecondsMax, is_secure ? kSecure : "")}};
}

Fields DropCookies() {
  return {{"Set-Cookie", absl::StrCat(kCookie, "=", kAttributes, 0)},
          {"Set-Cookie", absl::StrCat(kSecureCookie, "=", kAttributes, 0, kSecure)}};
}

}  // namespace skiplane::http::dashboard
