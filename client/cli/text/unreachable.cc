#include "client/cli/text/unreachable.h"

#include <array>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace skiplane::cli {
namespace {

// The beginnings of gRPC 1.51.
constexpr absl::string_view kNoConnection = "connections to all backends failing; last error: ";
constexpr absl::string_view kNoName = "DNS resolution failed for ";
constexpr absl::string_view kNoHandshake = "empty address list";

struct Cause {
  absl::string_view sign;
  const char* words;
};

constexpr char kClosed[] =
    "it closed the connection; it may want --tls, or a certificate of yours (--tls-cert), or it "
    "may have refused your certificate (expired, of another authority, not for clients)";

constexpr std::array kCauses{
    Cause{"certificate verify failed",
          "its certificate is not trusted: it may have expired, or --tls-ca does not name the "
          "authority that signed it"},
    Cause{"is not in peer certificate",
          "its certificate is for another name; --tls-server-name says which"},
    Cause{"wrong version number", "it speaks plain text; leave out --tls"},
    Cause{"Socket closed", kClosed},
    Cause{"Connection reset by peer", kClosed},
};

std::string CauseOf(absl::string_view text) {
  for (const Cause& cause : kCauses) {
    if (absl::StrContains(text, cause.sign)) return cause.words;
  }
  return absl::StrReplaceAll(text, {{"Failed to connect to remote host: ", ""}});
}

}  // namespace

std::string TellUnreachable(absl::string_view message) {
  if (absl::StartsWith(message, kNoHandshake)) {
    return "the PEM files of --tls-ca, --tls-cert and --tls-key cannot be used";
  }
  if (absl::ConsumePrefix(&message, kNoName)) {
    return absl::StrCat("no address is known for ", message.substr(0, message.find(": ")));
  }
  if (!absl::ConsumePrefix(&message, kNoConnection)) return std::string(message);
  // "UNKNOWN: ipv6:%5B::1%5D:7070: text", with any status.
  const size_t status_end = message.find(": ");
  if (status_end != absl::string_view::npos) message.remove_prefix(status_end + 2);
  for (const absl::string_view family : {"ipv4:", "ipv6:"}) absl::ConsumePrefix(&message, family);
  const size_t end = message.find(": ");
  if (end == absl::string_view::npos) return absl::StrCat("no broker was reached: ", message);
  const std::string address =
      absl::StrReplaceAll(message.substr(0, end), {{"%5B", "["}, {"%5D", "]"}});
  return absl::StrCat("no broker was reached at ", address, ": ", CauseOf(message.substr(end + 2)));
}

}  // namespace skiplane::cli
