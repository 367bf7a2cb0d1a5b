// What a secured broker and its callers need: a server's and a client's certificate, a bearer token
// and rules. Two callers' proofs at once, as callers behind a proxy of their own may have; the
// dearest that there is. Not thread-safe.
#pragma once

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>
#include <vector>

namespace skiplane::bench {

class Secured {
 public:
  // Its files are in `folder`, and those of the certificates in that for temporary files.
  explicit Secured(const std::string& folder);

  // Of the broker.
  const std::vector<std::string>& flags() const { return flags_; }
  // Of its callers.
  std::shared_ptr<grpc::ChannelCredentials> credentials() const { return credentials_; }

 private:
  std::vector<std::string> flags_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
};

}  // namespace skiplane::bench
