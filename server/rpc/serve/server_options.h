// How a server is to listen, and what bounds it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "server/access/authenticator.h"
#include "server/access/token_sealer.h"
#include "server/model/limits.h"
#include "server/net/tls_files.h"

namespace skiplane::rpc {

struct ServerLimits {
  int connections = model::kConnectionsMax;
  // Leases that wait, in all and on one connection. They are streams, and many workers behind one
  // proxy share a connection; it may have kStreamsBesideParked more for everything else.
  int waiting_calls = model::kWaitingCallsMax;
  int waiting_calls_per_connection = model::kWaitingCallsPerConnectionMax;
  int principal_share = model::kPrincipalShare;  // percent of the limits of calls and bytes
  int address_share = model::kAddressShare;      // percent of connections and waiting calls
  absl::Duration handshake_timeout = absl::Seconds(5);
  // Makes clients spread again after brokers were added. The grace is longer than any Lease waits.
  absl::Duration connection_age = absl::Minutes(30);
  absl::Duration connection_age_grace = absl::Seconds(70);
  // What gRPC takes at most for calls and for messages that it is about to receive. Above what
  // 20,000 waiting leases (320 MB) and many large requests at once need.
  size_t memory_bytes = model::kTransportBytesMax;
};

struct ServerOptions {
  std::string listen;  // "127.0.0.1:7070"; port 0 takes a free one
  std::optional<net::TlsFiles> tls;
  bool reflection = false;
  // Both outlive the server. Null: everybody may call; tokens are good at this server only.
  const access::Authenticator* authenticator = nullptr;
  const access::TokenSealer* sealer = nullptr;
  ServerLimits limits;
};

}  // namespace skiplane::rpc
