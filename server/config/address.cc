#include "server/config/address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace skiplane::config {
namespace {

struct Parts {
  std::string host;  // without the brackets of IPv6
  bool is_bracketed = false;
  absl::string_view port;
};

Parts Split(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return {};
  const absl::string_view host = text.substr(0, colon);
  const absl::string_view port = text.substr(colon + 1);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    return {std::string(host.substr(1, host.size() - 2)), true, port};
  }
  return {std::string(host), false, port};
}

bool IsIpv4(const std::string& host, in_addr* address) {
  return inet_pton(AF_INET, host.c_str(), address) == 1;
}

bool IsIpv6(const std::string& host, in6_addr* address) {
  return inet_pton(AF_INET6, host.c_str(), address) == 1;
}

bool IsNumericHost(const Parts& parts) {
  in_addr ipv4;
  in6_addr ipv6;
  return parts.is_bracketed ? IsIpv6(parts.host, &ipv6) : IsIpv4(parts.host, &ipv4);
}

bool IsHostName(const Parts& parts) {
  if (parts.is_bracketed || parts.host.empty()) return false;
  bool has_letter = false;  // all else is a number gone wrong
  for (const char c : parts.host) {
    const auto byte = static_cast<unsigned char>(c);
    if (!absl::ascii_isalnum(byte) && c != '.' && c != '-') return false;
    has_letter = has_letter || absl::ascii_isalpha(byte);
  }
  return has_letter;
}

bool IsPort(absl::string_view port) {
  int number = 0;
  if (port.empty() || port.size() > 5) return false;
  for (const char c : port) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return absl::SimpleAtoi(port, &number) && number <= 65535;
}

}  // namespace

std::string CheckAddress(absl::string_view text) {
  const Parts parts = Split(text);
  if (IsPort(parts.port) && (IsNumericHost(parts) || IsHostName(parts))) return "";
  return "must be HOST:PORT, as in 127.0.0.1:7070 or [::1]:7070";
}

std::string CheckNumericAddress(absl::string_view text) {
  const Parts parts = Split(text);
  if (IsPort(parts.port) && IsNumericHost(parts)) return "";
  return "must be ADDRESS:PORT, as in 127.0.0.1:9464 or [::1]:9464";
}

bool IsHostName(absl::string_view text) { return IsHostName(Parts{std::string(text), false, ""}); }

bool IsOrigin(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "http://") && !absl::ConsumePrefix(&text, "https://")) {
    return false;
  }
  const bool has_port = !absl::EndsWith(text, "]") && absl::StrContains(text, ':');
  return CheckAddress(has_port ? std::string(text) : absl::StrCat(text, ":80")).empty();
}

std::string OriginAsSent(absl::string_view origin) {
  const bool is_https = absl::StartsWith(origin, "https://");
  return std::string(absl::StripSuffix(origin, is_https ? ":443" : ":80"));
}

std::string HostNameOf(absl::string_view address) {
  const Parts parts = Split(address);
  return IsHostName(parts) ? parts.host : "";
}

std::string CheckDatabaseUri(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "postgresql://") && !absl::ConsumePrefix(&text, "postgres://")) {
    return "must be a URI that begins with postgresql://";
  }
  const absl::string_view place = text.substr(0, text.find_first_of("/?"));
  const bool is_clear = std::count(place.begin(), place.end(), '@') <= 1;
  return is_clear ? "" : "must have one @, before the host: in a user or password write it as %40";
}

bool IsLoopback(absl::string_view address) {
  const Parts parts = Split(address);
  in_addr ipv4;
  in6_addr ipv6;
  if (IsIpv4(parts.host, &ipv4)) return ntohl(ipv4.s_addr) >> 24 == IN_LOOPBACKNET;
  if (IsIpv6(parts.host, &ipv6)) return IN6_IS_ADDR_LOOPBACK(&ipv6);
  return absl::EqualsIgnoreCase(parts.host, "localhost");
}

}  // namespace skiplane::config
