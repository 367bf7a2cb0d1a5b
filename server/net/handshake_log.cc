#include "server/net/handshake_log.h"

#include "absl/strings/match.h"
#include "server/base/rare_event.h"

namespace skiplane::net {

void LogFailedHandshake(absl::string_view peer, absl::string_view why) {
  static constinit base::RareEvent failed("handshakes_failed");
  const bool is_by_certificate =
      absl::StrContains(why, "certificate") || absl::StrContains(why, "unknown ca");
  if (!is_by_certificate || !failed.Wanted()) return;
  failed.Write(base::LogLevel::kWarn, {{"peer", std::string(peer)}, {"why", std::string(why)}});
}

}  // namespace skiplane::net
