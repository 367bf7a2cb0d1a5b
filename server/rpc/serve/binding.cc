#include "server/rpc/serve/binding.h"

#include <utility>

#include "server/base/status_macros.h"
#include "server/rpc/serve/grpc_log.h"

namespace skiplane::rpc {

absl::StatusOr<Binding> Bind(const ServerOptions& options) {
  TakeGrpcLog();
  std::optional<net::TlsIdentity> identity;
  if (options.tls) {
    ASSIGN_OR_RETURN(identity, net::ReadTlsFiles(*options.tls));
  }
  ASSIGN_OR_RETURN(net::ListenSockets sockets, net::ListenSockets::Bind(options.listen));
  return Binding{options, std::move(identity), std::move(sockets)};
}

}  // namespace skiplane::rpc
