// What a server needs of the machine and can fail for: its port and its TLS files. Found before
// anything else is begun, such as a change of the database.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "server/net/listen_sockets.h"
#include "server/rpc/serve/server_options.h"
#include "server/net/tls_files.h"

namespace skiplane::rpc {

// The port is taken, and callers are refused there until a server starts with it. Movable.
struct Binding {
  ServerOptions options;
  std::optional<net::TlsIdentity> identity;
  net::ListenSockets sockets;
};

// FAILED_PRECONDITION, naming the address or the file.
absl::StatusOr<Binding> Bind(const ServerOptions& options);

}  // namespace skiplane::rpc
