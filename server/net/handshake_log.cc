#include "server/net/handshake_log.h"

#include <string>

#include "absl/strings/match.h"
#include "server/base/rare_event.h"

namespace skiplane::net {

bool IsAboutCertificate(absl::string_view why) {
  return absl::StrContains(why, "certificate") || absl::StrContains(why, "unknown ca");
}

void LogRefusedCertificate(absl::string_view peer, absl::string_view why) {
  static constinit base::RareEvent failed("handshakes_failed");
  if (!failed.Wanted()) return;
  failed.Write(base::LogLevel::kWarn, {{"peer", std::string(peer)}, {"why", std::string(why)}});
}

}  // namespace skiplane::net
