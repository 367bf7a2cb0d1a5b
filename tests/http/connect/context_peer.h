// What a client's context sends: by the name that gRPC declares as its friend, for which newer
// packages bring no header.
#pragma once

#include <map>
#include <string>

#include <grpcpp/client_context.h>

namespace grpc::testing {

class ClientContextTestPeer {
 public:
  static const std::multimap<std::string, std::string>& Sent(const ClientContext& context) {
    return context.send_initial_metadata_;
  }
};

}  // namespace grpc::testing
