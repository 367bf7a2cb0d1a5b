#include "server/rpc/serve/server.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>

#include "absl/time/clock.h"
#include "server/base/log.h"
#include "server/base/mutex.h"
#include "server/base/status_macros.h"
#include "server/net/acceptor.h"
#include "server/net/listen_sockets.h"
#include "server/rpc/admin/admin_service.h"
#include "server/rpc/broker/broker_service.h"
#include "server/rpc/call/in_flight.h"
#include "server/rpc/serve/credentials.h"
#include "server/rpc/serve/flood_watch.h"
#include "server/rpc/serve/health.h"
#include "server/rpc/serve/inner_server.h"
#include "server/rpc/serve/port_check.h"
#include "server/rpc/serve/reflection.h"
#include "server/rpc/serve/server_limits.h"

namespace skiplane::rpc {
namespace {

// Between the first sign of a drain and the cut of the connections: time for what was sent before
// it, such as the news to who watches the health.
constexpr std::chrono::milliseconds kNotice(200);

// gRPC ends its threads with the last object that uses it. One that ends beside the process frees
// what OpenSSL's exit handler frees, too. So gRPC stays up once it was used.
void KeepGrpcUp() {
  static const bool is_up = (grpc_init(), true);
  (void)is_up;
}

void LogLoaded(const net::TlsFiles& files, const net::TlsIdentity& identity) {
  const bool has_expired = identity.expires <= absl::Now();
  base::Log(has_expired ? base::LogLevel::kWarn : base::LogLevel::kInfo,
            has_expired ? "tls_expired" : "tls_loaded",
            {{"certificate", files.certificate},
             {"sha256", identity.sha256},
             {"expires", absl::FormatTime(identity.expires, absl::UTCTimeZone())},
             {"client_ca", files.client_ca}});
}

InFlight::Limits ParkingOf(const ServerLimits& limits) {
  InFlight::Limits parking;
  parking.parked = limits.waiting_calls;
  parking.parked_per_connection = limits.waiting_calls_per_connection;
  parking.principal_share = limits.principal_share;
  parking.address_share = limits.address_share;
  return parking;
}

// Whether clients are asked for the same: a port that listens keeps what it asks for.
bool AskAlike(const std::optional<net::TlsFiles>& one, const std::optional<net::TlsFiles>& other) {
  if (!one || !other) return !one && !other;
  if (one->client_ca.empty() || other->client_ca.empty()) {
    return one->client_ca.empty() && other->client_ca.empty();
  }
  return one->requires_client == other->requires_client;
}

}  // namespace

struct Server::State {
  State(broker::Broker& broker_in, metrics::Metrics& metrics_in, const ServerOptions& options)
      : broker(broker_in),
        metrics(metrics_in),
        in_flight(ParkingOf(options.limits)),
        tls(options.tls),
        scope{metrics, in_flight, tally,
              options.authenticator == nullptr ? everybody : *options.authenticator,
              options.sealer == nullptr ? own_sealer : *options.sealer, tls.has_value(),
              /*is_passed_on=*/false, options.limits.connection_age / 2} {}

  void Listen();
  void Shutdown(absl::Duration patience);

  broker::Broker& broker;
  metrics::Metrics& metrics;
  InFlight in_flight;
  CallTally tally;
  const std::optional<net::TlsFiles> tls;  // as at the start
  const access::Authenticator everybody{access::Sources{}};
  const access::TokenSealer own_sealer;
  const CallScope scope;
  BrokerService broker_service{broker, scope};
  AdminService admin_service{broker, scope};
  std::unique_ptr<grpc::Service> reflection;
  std::unique_ptr<Credentials> credentials;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> entrance;
  std::unique_ptr<grpc::Server> grpc;
  std::unique_ptr<InnerServer> inner;
  std::unique_ptr<Health> health;
  std::unique_ptr<net::Acceptor> acceptor;
  std::unique_ptr<PortCheck> port_check;
  std::unique_ptr<FloodWatch> flood_watch;
  int port = 0;
  base::Mutex drain_mutex;
  bool drained ABSL_GUARDED_BY(drain_mutex) = false;
};

// From now on connections are served. They are accepted by us and not by gRPC, whose listener never
// accepts again once the descriptors have run out, and knows no limit of connections.
void Server::State::Listen() {
  acceptor->Start([this](int listen_fd, int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listen_fd;
    connection.fd = fd;
    entrance->HandleNewConnection(&connection);
  });
  flood_watch = std::make_unique<FloodWatch>(*acceptor, tally, in_flight, metrics);
  PortCheck::Options options;
  options.listen_fd = acceptor->sockets().fds().front();
  options.tls = tls.has_value();
  metrics.SetPortAnswers(true);
  port_check = std::make_unique<PortCheck>(
      options, PortCheck::Listener{[this](int from_port) { acceptor->ExpectPortCheck(from_port); },
                                   [this](bool answers) {
                                     metrics.SetPortAnswers(answers);
                                     health->SetAlive(answers);
                                   }});
}

// gRPC's Shutdown turns calls that arrive after it away as CANCELLED, which no caller repeats. So
// late calls are refused by us as long as others are being answered, and then all connections are
// cut, which callers see as UNAVAILABLE, before Shutdown begins. This also ends health watches and
// reflection streams, which never end by themselves and must not hold up a drain.
void Server::State::Shutdown(absl::Duration patience) {
  const auto start = std::chrono::steady_clock::now();
  const auto deadline = start + absl::ToChronoNanoseconds(patience);
  in_flight.Close();
  broker_service.DrainStreams();
  admin_service.DrainStreams();
  inner->DrainStreams();
  in_flight.WaitForNone(deadline);
  std::this_thread::sleep_until(std::min(start + kNotice, deadline));
  port_check.reset();
  flood_watch.reset();
  acceptor->Stop();
  grpc_server_cancel_all_calls(grpc->c_server());
  grpc->Shutdown(absl::ToChronoTime(absl::Now()));
  inner->Shutdown();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      broker::Broker& broker,
                                                      metrics::Metrics& metrics) {
  ASSIGN_OR_RETURN(Binding binding, Bind(options));
  return Start(std::move(binding), broker, metrics);
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(Binding binding, broker::Broker& broker,
                                                      metrics::Metrics& metrics) {
  KeepGrpcUp();
  RETURN_IF_ERROR(binding.sockets.Listen());
  const ServerOptions& options = binding.options;
  auto state = std::make_unique<State>(broker, metrics, options);
  state->port = binding.sockets.port();
  if (binding.identity) LogLoaded(*options.tls, *binding.identity);
  state->credentials = std::make_unique<Credentials>(std::move(binding.identity));
  state->acceptor =
      std::make_unique<net::Acceptor>(
          std::move(binding.sockets),
          net::ConnectionLimits{options.limits.connections, options.limits.address_share}, metrics,
          "grpc");
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  ApplyLimits(options.limits, &builder);
  using Kind = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  state->entrance = builder.experimental().AddExternalConnectionAcceptor(
      Kind::FROM_FD, state->credentials->ForPort());
  builder.RegisterService(&state->broker_service);
  builder.RegisterService(&state->admin_service);
  state->reflection = SetReflection(options.reflection, &builder);
  state->grpc = builder.BuildAndStart();
  if (state->grpc == nullptr) {
    return absl::InternalError("gRPC cannot start its server; its own log says why");
  }
  ASSIGN_OR_RETURN(state->inner, InnerServer::Start(broker, state->scope));
  // By gRPC last: who sees there that it is ready may call by HTTP at once.
  state->health = std::make_unique<Health>(std::vector<grpc::HealthCheckServiceInterface*>{
      &state->inner->health(), state->grpc->GetHealthCheckService()});
  broker.WhenLeasesAreTaken(
      [service = &state->broker_service] { service->TellLeasesTaken(); });
  broker.WhenSessionsAreGone(
      [service = &state->broker_service](absl::Span<const model::SessionId> sessions) {
        service->TellSessionsGone(sessions);
      });
  state->Listen();
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  state_->broker.WhenLeasesAreTaken(nullptr);
  state_->broker.WhenSessionsAreGone(nullptr);
  Drain(absl::ZeroDuration());
}

std::shared_ptr<InnerChannel> Server::inner_channel() const { return state_->inner->channel(); }

absl::Status Server::Admit(const Caller& caller, ShownCredentials shown) const {
  shown.has_tls = state_->tls.has_value();
  return rpc::Admit(state_->scope.authenticator, caller, shown).status();
}

std::optional<net::TlsIdentity> Server::identity() const { return state_->credentials->Get(); }

int Server::port() const { return state_->port; }

void Server::SetReady(bool ready) { state_->health->SetReady(ready); }

absl::Status Server::ReloadTls(const std::optional<net::TlsFiles>& files,
                               const OthersTake& others_take) {
  if (!AskAlike(files, state_->tls)) {
    return absl::FailedPreconditionError(
        "TLS, or the wish for certificates of clients, cannot be switched on or off while the "
        "broker runs: restart it");
  }
  if (!files) return absl::OkStatus();
  ASSIGN_OR_RETURN(net::TlsIdentity identity, net::ReadTlsFiles(*files));
  if (others_take != nullptr) RETURN_IF_ERROR(others_take(identity));
  LogLoaded(*files, identity);
  state_->credentials->Replace(std::move(identity));
  return absl::OkStatus();
}

void Server::Drain(absl::Duration patience) {
  state_->health->Retire();
  base::MutexLock lock(state_->drain_mutex);
  if (state_->drained) return;
  state_->metrics.SetDraining(true);
  state_->broker.BeginDrain();
  state_->Shutdown(patience);
  state_->drained = true;
}

void Server::Wait() { state_->grpc->Wait(); }

}  // namespace skiplane::rpc
