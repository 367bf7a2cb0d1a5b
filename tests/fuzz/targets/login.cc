// Log-ins at the dashboard: bodies, and the cookies that browsers send, those of others among them.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/http/dashboard/login.h"
#include "server/http/dashboard/login_cookie.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

namespace dashboard = http::dashboard;

// What a browser sends back of a cookie that it was told to keep.
std::string SentBack(const std::string& token, bool is_secure) {
  const http::Fields fields = dashboard::KeepCookie(token, is_secure);
  Demand(fields.size() == 1, "one cookie is kept");
  const std::string& told = fields[0].second;
  Demand(told.find_first_of("\r\n", 0) == std::string::npos, "a cookie stays in its field");
  return std::string(std::pair<std::string, std::string>(
                         absl::StrSplit(told, absl::MaxSplits(';', 1))).first);
}

void DemandKept(const std::string& token) {
  Demand(dashboard::IsToken(token), "what is taken for a token is one");
  for (const bool is_secure : {false, true}) {
    const http::Head head{"POST", "/", {{"cookie", SentBack(token, is_secure)}}};
    const auto found = dashboard::TokenOf(head, is_secure);
    Demand(found.ok() && *found == token, "a token that is kept is found again");
  }
}

void ReadCookies(absl::string_view bytes, bool has_tls) {
  const auto found = dashboard::TokenOf({"POST", "/", {{"cookie", std::string(bytes)}}}, has_tls);
  if (!found.ok()) {
    Demand(absl::IsInvalidArgument(found.status()), "a wrong cookie is refused");
  } else if (*found) {
    DemandKept(**found);
  }
}

void ReadLogin(absl::string_view bytes) {
  ReadCookies(bytes, false);
  ReadCookies(bytes, true);
  ReadCookies(absl::StrCat(dashboard::kSecureCookie, "=", bytes), true);
  const auto token = dashboard::ReadLogin(bytes);
  if (token.ok()) {
    DemandKept(*token);
  } else {
    DemandRefusal(token.status());
  }
}

const Target kLogin("login", &ReadLogin);

}  // namespace
}  // namespace skiplane::fuzz
