#include "client/src/connection.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/src/connect/channel.h"
#include "client/src/produce/producer.h"

namespace skiplane::internal {
namespace {

constexpr int kAttemptsMax = 5;

constexpr size_t kActorBytesMax = 255;

// gRPC aborts on metadata that it cannot send.
bool IsActor(const std::string& actor) {
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  return actor.size() <= kActorBytesMax && std::all_of(actor.begin(), actor.end(), is_printable);
}

bool IsOnThisMachine(const std::string& address) {
  return absl::StartsWith(address, "127.") || absl::StartsWith(address, "[::1]:") ||
         absl::StartsWith(address, "localhost:") || absl::StartsWith(address, "unix:");
}

absl::Status CheckToken(const ClientOptions& options) {
  if (!options.token.empty() && !options.token_file.empty()) {
    return absl::InvalidArgumentError("token and token_file: only one of them");
  }
  const auto& addresses = options.addresses;
  const bool has_token = !options.token.empty() || !options.token_file.empty();
  if (!has_token || options.tls.enabled ||
      std::all_of(addresses.begin(), addresses.end(), &IsOnThisMachine)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("token needs TLS: others could read it on its way");
}

// gRPC takes a port modulo 65536, and would show the token to whoever is there.
absl::Status CheckAddress(absl::string_view address) {
  if (address.empty()) return absl::InvalidArgumentError("an address is empty");
  if (absl::StartsWith(address, "http://") || absl::StartsWith(address, "https://")) {
    return absl::InvalidArgumentError(
        absl::StrCat("address ", address, ": HOST:PORT is wanted, of the port of gRPC"));
  }
  if (absl::StrContains(address, "/") || absl::StartsWith(address, "unix:")) {
    return absl::OkStatus();  // gRPC's own forms
  }
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos || absl::EndsWith(address, "]")) return absl::OkStatus();
  int port = 0;
  if (absl::SimpleAtoi(address.substr(colon + 1), &port) && port > 0 && port <= 65535) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("address ", address, ": the port must be a number of 1 to 65535"));
}

absl::Status Check(const ClientOptions& options) {
  if (options.addresses.empty()) return absl::InvalidArgumentError("addresses is empty");
  for (const std::string& address : options.addresses) {
    if (const absl::Status status = CheckAddress(address); !status.ok()) return status;
  }
  if (!IsActor(options.actor)) {
    return absl::InvalidArgumentError("actor must be 0 to 255 bytes of printable ASCII");
  }
  if (const absl::Status status = CheckToken(options); !status.ok()) return status;
  if (options.call_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("call_timeout must be above 0");
  }
  if (options.max_attempts < 1 || options.max_attempts > kAttemptsMax) {
    return absl::InvalidArgumentError("max_attempts must be 1 to 5");
  }
  if (options.backoff < absl::ZeroDuration() || options.max_backoff < options.backoff) {
    return absl::InvalidArgumentError("backoff must be 0 to max_backoff");
  }
  return absl::OkStatus();
}

double RandomShare() {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.5, 1.0)(random);
}

}  // namespace

Connection::Connection(ClientOptions options, std::unique_ptr<Token> token)
    : options_(std::move(options)),
      token_(std::move(token)),
      // Else the streams of all clients would begin at the first address.
      turn_(std::random_device{}()),
      producer_(std::make_shared<Producer>()) {}

Connection::~Connection() { producer_->Close(); }

absl::StatusOr<std::shared_ptr<Connection>> Connection::Open(ClientOptions options) {
  if (const absl::Status status = Check(options); !status.ok()) return status;
  auto credentials = MakeCredentials(options.tls);
  if (!credentials.ok()) return credentials.status();
  auto token = Token::Open(options);
  if (!token.ok()) return token.status();
  std::shared_ptr<Connection> connection(new Connection(std::move(options), *std::move(token)));
  for (const std::string& address : connection->options_.addresses) {
    Backend backend;
    backend.channel = MakeChannel(address, *credentials, connection->options_.tls);
    backend.broker = v1::BrokerService::NewStub(backend.channel);
    backend.admin = v1::AdminService::NewStub(backend.channel);
    connection->backends_.push_back(std::move(backend));
  }
  return connection;
}

Backend& Connection::Next() {
  const size_t first = turn_.fetch_add(1, std::memory_order_relaxed);
  for (size_t i = 0; i < backends_.size(); ++i) {
    Backend& backend = backends_[(first + i) % backends_.size()];
    // Asking also makes an idle channel connect, so that one which came back is found.
    const grpc_connectivity_state state = backend.channel->GetState(/*try_to_connect=*/true);
    if (state != GRPC_CHANNEL_TRANSIENT_FAILURE) return backend;
  }
  return backends_[first % backends_.size()];
}

absl::Duration Connection::PauseAfter(int attempt, std::optional<absl::Duration> hint) const {
  absl::Duration pause = options_.backoff;
  for (int i = 1; i < attempt; ++i) pause *= 3;
  const double share = RandomShare();
  pause = std::min(pause, options_.max_backoff) * share;
  // All that were refused were told the same: they must not come back together, nor earlier.
  return hint ? std::max(pause, *hint * (0.5 + share)) : pause;
}

}  // namespace skiplane::internal
