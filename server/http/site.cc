#include "server/http/site.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace skiplane::http {
namespace {

bool IsAddress(absl::string_view host) {
  const std::string text(host);
  in6_addr address;
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool Contains(const std::vector<std::string>& list, absl::string_view text) {
  return std::any_of(list.begin(), list.end(), [text](const std::string& one) {
    return absl::EqualsIgnoreCase(one, text);
  });
}

// A page of the same host and port. Its scheme may differ: a proxy may end TLS before us.
bool IsSameSite(absl::string_view origin, absl::string_view host) {
  return (absl::ConsumePrefix(&origin, "http://") || absl::ConsumePrefix(&origin, "https://")) &&
         absl::EqualsIgnoreCase(origin, host);
}

constexpr char kFieldsTaken[] =
    "Authorization, Connect-Protocol-Version, Connect-Timeout-Ms, Content-Encoding, Content-Type, "
    "Skiplane-Actor";

bool IsName(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-_.", c);
  });
}

// Those that the services get: ", skiplane-…" for each that the page wants to send.
std::string FurtherFieldsOf(const Head& head) {
  std::string fields;
  for (absl::string_view name :
       absl::StrSplit(head.Find("access-control-request-headers"), ',')) {
    name = absl::StripAsciiWhitespace(name);
    if (absl::StartsWithIgnoreCase(name, "skiplane-") && IsName(name)) {
      absl::StrAppend(&fields, ", ", name);
    }
  }
  return fields;
}

// None, or a colon and a number; a colon alone stands for none (RFC 3986).
bool HasGoodPort(absl::string_view host) {
  const size_t end = host.find(absl::StartsWith(host, "[") ? ']' : ':');
  if (end == absl::string_view::npos) return true;
  absl::string_view port = host.substr(end);
  absl::ConsumePrefix(&port, "]");
  if (port.empty() || port == ":") return true;
  constexpr int kPortMax = 65535;
  int number = 0;
  return absl::ConsumePrefix(&port, ":") && absl::c_all_of(port, absl::ascii_isdigit) &&
         absl::SimpleAtoi(port, &number) && number <= kPortMax;
}

}  // namespace

absl::string_view HostWithoutPort(absl::string_view host) {
  if (absl::StartsWith(host, "[")) {
    const size_t end = host.find(']');
    return end == absl::string_view::npos ? absl::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.rfind(':'));
}

bool IsFromOwnPage(const Head& head) {
  const size_t origins = head.Count("origin");
  return origins == 0 ||
         (origins == 1 && IsSameSite(head.Find("origin"), head.Find("host")));
}

Site::Site(std::vector<std::string> hosts, std::vector<std::string> origins)
    : hosts_(std::move(hosts)), origins_(std::move(origins)) {}

bool Site::IsOwnHost(absl::string_view host) const {
  const absl::string_view name = HostWithoutPort(host);
  return absl::EqualsIgnoreCase(name, "localhost") || IsAddress(name) || Contains(hosts_, name);
}

std::optional<Site::Refusal> Site::Check(const Head& head) const {
  if (head.Count("host") != 1) return Refusal{400, "the request must have one Host"};
  const absl::string_view host = head.Find("host");
  if (!IsOwnHost(host)) {
    return Refusal{403, "this server does not go by the name in Host: use its address, or list "
                        "the name with --http-host"};
  }
  if (!HasGoodPort(host)) return Refusal{400, "the port in Host must be a number"};
  const absl::string_view origin = head.Find("origin");
  if (head.Count("origin") > 1 ||
      !(origin.empty() || IsSameSite(origin, host) || Contains(origins_, origin))) {
    return Refusal{403, "pages of that Origin may not call: list it with --http-origin"};
  }
  return std::nullopt;
}

bool Site::IsFromListedOrigin(const Head& head) const {
  const absl::string_view origin = head.Find("origin");
  return !origin.empty() && Contains(origins_, origin);
}

Fields Site::AnswerFields(const Head& head) const {
  if (origins_.empty()) return {};
  if (!IsFromListedOrigin(head)) return {{"Vary", "Origin"}};
  return {{"Vary", "Origin"},
          {"Access-Control-Allow-Origin", std::string(head.Find("origin"))},
          {"Access-Control-Expose-Headers", "*"}};
}

std::optional<Response> Site::Preflight(const Head& head) const {
  if (head.method != "OPTIONS" || head.Find("access-control-request-method").empty() ||
      !IsFromListedOrigin(head)) {
    return std::nullopt;
  }
  Response response{204, "", "", AnswerFields(head)};
  response.fields.emplace_back("Access-Control-Allow-Methods", "GET, POST");
  response.fields.emplace_back("Access-Control-Allow-Headers",
                               absl::StrCat(kFieldsTaken, FurtherFieldsOf(head)));
  response.fields.emplace_back("Access-Control-Max-Age", "7200");
  return response;
}

}  // namespace skiplane::http
