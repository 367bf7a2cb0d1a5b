// The channels and stubs of a Client and the rules of its calls: which broker is next, how long to
// pause before a repeat. Thread-safe.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/src/connect/token.h"
#include "skiplane/options.h"
#include "skiplane/v1/admin.grpc.pb.h"
#include "skiplane/v1/broker.grpc.pb.h"

namespace skiplane::internal {

struct Backend {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::BrokerService::Stub> broker;
  std::unique_ptr<v1::AdminService::Stub> admin;
};

class Producer;

class Connection {
 public:
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  static absl::StatusOr<std::shared_ptr<Connection>> Open(ClientOptions options);

  // The next broker that is not known to be unreachable; if all are, simply the next.
  Backend& Next();

  // The pause after the attempt of this number, from 1. `hint`: what the broker asks for.
  absl::Duration PauseAfter(int attempt, std::optional<absl::Duration> hint = std::nullopt) const;

  const ClientOptions& options() const { return options_; }
  Token& token() { return *token_; }
  Producer& producer() { return *producer_; }

 private:
  Connection(ClientOptions options, std::unique_ptr<Token> token);

  const ClientOptions options_;
  const std::unique_ptr<Token> token_;
  std::vector<Backend> backends_;
  std::atomic<size_t> turn_;
  const std::shared_ptr<Producer> producer_;
};

}  // namespace skiplane::internal
