#include "server/app/app.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/access/authenticator.h"
#include "server/access/token_sealer.h"
#include "server/app/database/database.h"
#include "server/app/limits/descriptors.h"
#include "server/app/files/access_files.h"
#include "server/app/http_front.h"
#include "server/app/readiness.h"
#include "server/app/version.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/broker/local_broker.h"
#include "server/http/metrics_page.h"
#include "server/metrics/metrics.h"
#include "server/model/lease.h"
#include "server/pg/migrate/migrator.h"
#include "server/rpc/serve/server.h"
#include "server/upkeep/upkeep.h"

namespace skiplane::app {
namespace {


// For the answers to calls that are cut off.
constexpr absl::Duration kAnswerWithin = absl::Seconds(1);

std::string HostAndPid() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  return absl::StrCat(host, ":", getpid());
}

void LogMigrated(int migrations) {
  base::Log(base::LogLevel::kInfo, "migrated", {{"migrations", absl::StrCat(migrations)}});
}

rpc::ServerOptions FrontOptions(const config::Config& config, int connections_max) {
  rpc::ServerOptions options;
  options.limits.connections = connections_max;
  options.limits.waiting_calls = config.max_waiting_calls;
  options.limits.waiting_calls_per_connection = config.max_waiting_calls_per_connection;
  options.limits.principal_share = config.principal_share;
  options.limits.address_share = config.address_share;
  options.listen = config.listen;
  options.reflection = config.reflection;
  options.tls = TlsFilesOf(config.tls);
  return options;
}

broker::BrokerOptions OptionsOf(const config::Config& config, const pg::ConnectOptions& connect) {
  broker::BrokerOptions options;
  options.connect = connect;
  options.connect.schema_version = pg::LatestSchemaVersion();  // a newer broker may raise it
  options.connections = config.database_connections;
  options.create_missing_queues = config.auto_create_queues;
  options.hands_off = config.hands_off;
  options.waiting_calls_max = config.max_waiting_calls;
  options.new_queues = {config.max_new_queues_per_minute, config.principal_share};
  options.id = model::NewSessionId();
  options.name = HostAndPid();
  options.version = kVersion;
  options.commit = kCommit;
  return options;
}

upkeep::UpkeepOptions UpkeepOptionsOf(const broker::BrokerOptions& broker) {
  upkeep::UpkeepOptions options;
  options.connect = broker.connect;
  options.broker_id = broker.id;
  options.broker_name = broker.name;
  return options;
}

// That the limit of open files allows.
struct Connections {
  int callers = 0;  // to each of the ports of gRPC and HTTP
  int page = 0;     // to the metrics page
};

absl::StatusOr<Connections> ConnectionsOf(const config::Config& config) {
  ASSIGN_OR_RETURN(const int64_t limit, RaiseDescriptorLimit());
  const DescriptorPlan plan = PlanDescriptors(config, limit);
  Connections connections;
  connections.page = plan.page;
  ASSIGN_OR_RETURN(connections.callers, ConnectionsWithin(limit, config.max_connections, plan));
  return connections;
}

// Where an address cannot be had, says which flag gives another.
absl::Status Naming(absl::string_view flag, const absl::Status& status) {
  const absl::string_view message = status.message();
  if (!absl::StartsWith(message, "cannot listen on ") &&
      !absl::StartsWith(message, "cannot serve metrics on ")) {
    return status;
  }
  return absl::Status(status.code(), absl::StrCat(message, "; ", flag, " chooses another address"));
}

absl::StatusOr<std::optional<net::ListenSockets>> BindHttp(const config::Config& config) {
  if (config.http_listen.empty()) return std::nullopt;
  absl::StatusOr<net::ListenSockets> sockets = net::ListenSockets::Bind(config.http_listen);
  if (!sockets.ok() && config.is_http_by_default) {
    // Nobody asked for it: a broker that started before there was HTTP still starts.
    base::Log(base::LogLevel::kWarn, "http_not_served",
              {{"address", config.http_listen},
               {"why", std::string(sockets.status().message())},
               {"remedy", "choose another address, or off, with --http-listen"}});
    return std::nullopt;
  }
  if (!sockets.ok()) return Naming("--http-listen", sockets.status());
  return std::optional<net::ListenSockets>(*std::move(sockets));
}

}  // namespace

// In the order of their need: each part is destroyed before those above it.
struct App::Parts {
  config::Config config;
  Database database;
  std::string description{};  // of the database
  metrics::Metrics metrics{kVersion, kCommit};
  access::Authenticator authenticator{access::Sources{}};
  access::TokenSealer sealer{};
  std::unique_ptr<http::MetricsPage> metrics_page;
  Readiness readiness{metrics};
  std::unique_ptr<broker::LocalBroker> broker;
  std::unique_ptr<upkeep::Upkeep> upkeep;
  std::unique_ptr<rpc::Server> server;
  std::unique_ptr<HttpFront> http;
  bool is_drained = false;
};

App::App(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) { TellCertificate(); }

absl::StatusOr<std::unique_ptr<App>> App::Start(const config::Config& config) {
  auto parts = std::make_unique<Parts>();
  parts->config = config;
  ASSIGN_OR_RETURN(const Connections connections, ConnectionsOf(config));
  // First what can be refused without a look at the database, which is begun or changed below.
  ASSIGN_OR_RETURN(access::Sources sources, ReadAccessFiles(config));
  parts->authenticator.Replace(std::move(sources));
  ASSIGN_OR_RETURN(std::optional<ReservedPlace> reserved, ReserveDatabase(config));
  parts->metrics.PinQueues(config.metrics_queues);
  if (!config.metrics_listen.empty()) {
    auto page = http::MetricsPage::Start(config.metrics_listen, parts->metrics, connections.page);
    if (!page.ok()) return Naming("--metrics-listen", page.status());
    parts->metrics_page = *std::move(page);
  }
  rpc::ServerOptions front = FrontOptions(config, connections.callers);
  front.authenticator = &parts->authenticator;
  front.sealer = &parts->sealer;
  absl::StatusOr<rpc::Binding> binding = rpc::Bind(front);
  if (!binding.ok()) return Naming("--listen", binding.status());
  ASSIGN_OR_RETURN(std::optional<net::ListenSockets> http_sockets, BindHttp(config));
  ASSIGN_OR_RETURN(parts->database, OpenDatabase(config, std::move(reserved)));
  const pg::ConnectOptions& connect = parts->database.connect;
  ASSIGN_OR_RETURN(Prepared prepared, PrepareDatabase(config, connect));
  if (prepared.migrations > 0) LogMigrated(prepared.migrations);
  parts->description = std::move(prepared.description);
  parts->sealer.Replace(prepared.token_keys);
  broker::BrokerOptions options = OptionsOf(config, connect);
  options.on_token_keys = [&sealer = parts->sealer](const std::vector<model::TokenKey>& keys) {
    sealer.Replace(keys);
  };
  parts->broker = std::make_unique<broker::LocalBroker>(
      options, parts->metrics,
      [readiness = &parts->readiness](bool connected) { readiness->SetConnected(connected); });
  ASSIGN_OR_RETURN(parts->server,
                   rpc::Server::Start(*std::move(binding), *parts->broker, parts->metrics));
  if (http_sockets) {
    ASSIGN_OR_RETURN(parts->http,
                     HttpFront::Start(*std::move(http_sockets), config, connections.callers,
                                      {*parts->server, parts->readiness, parts->metrics}));
  }
  parts->readiness.SetServer(parts->server.get());

  parts->upkeep = std::make_unique<upkeep::Upkeep>(UpkeepOptionsOf(options), &parts->metrics);
  parts->upkeep->Start();
  return std::unique_ptr<App>(new App(std::move(parts)));
}

int App::port() const { return parts_->server->port(); }
int App::http_port() const { return parts_->http == nullptr ? 0 : parts_->http->port(); }
std::string App::dashboard_url() const {
  return parts_->http == nullptr ? "" : parts_->http->dashboard_url();
}
int App::metrics_port() const {
  return parts_->metrics_page == nullptr ? 0 : parts_->metrics_page->port();
}
const std::string& App::database() const { return parts_->description; }

std::string App::embedded_uri() const {
  const auto& cluster = parts_->database.cluster;
  return cluster == nullptr ? "" : cluster->uri();
}

absl::Status App::ReloadFiles(const config::Config& config) {
  RETURN_IF_ERROR(config::CheckReload(parts_->config, config));
  ASSIGN_OR_RETURN(access::Sources sources, ReadAccessFiles(config));
  RETURN_IF_ERROR(parts_->server->ReloadTls(
      TlsFilesOf(config.tls), [http = parts_->http.get()](const net::TlsIdentity& identity) {
        return http == nullptr ? absl::OkStatus() : http->TakeTls(identity);
      }));
  parts_->authenticator.Replace(std::move(sources));
  TellCertificate();
  return absl::OkStatus();
}

void App::TellCertificate() {
  const std::optional<net::TlsIdentity> identity = parts_->server->identity();
  if (identity.has_value()) parts_->metrics.SetCertificateExpiry(identity->expires);
}

void App::EndLeaseWaits() { parts_->broker->EndLeaseWaits(); }

void App::SetReloaded(bool succeeded) { parts_->metrics.SetReloaded(succeeded); }

void App::Drain() {
  if (std::exchange(parts_->is_drained, true)) return;
  parts_->metrics.SetDraining(true);
  parts_->readiness.BeginDrain();
  // Whoever waits for a database that does not answer would hold up the end.
  parts_->broker->EndConnectionsWithin(parts_->config.drain_timeout + kAnswerWithin);
  if (parts_->http != nullptr) parts_->http->BeginDrain();
  parts_->server->Drain(parts_->config.drain_timeout);
  if (parts_->http != nullptr) parts_->http->Stop(kAnswerWithin);
  parts_->readiness.SetServer(nullptr);
  parts_->upkeep->Stop();
  parts_->broker->Stop();
  if (parts_->database.cluster != nullptr) LogDatabaseStops(parts_->database);
}

App::~App() {
  parts_->config.drain_timeout = absl::ZeroDuration();
  Drain();
}

absl::StatusOr<std::vector<std::string>> ListMigrations(const config::Config& config) {
  ASSIGN_OR_RETURN(const Database database, ReachDatabase(config));
  return pg::MissingMigrations(database.connect);
}

absl::StatusOr<int> RunMigrations(const config::Config& config) {
  ASSIGN_OR_RETURN(std::optional<ReservedPlace> reserved, ReserveDatabase(config));
  ASSIGN_OR_RETURN(const Database database, OpenDatabase(config, std::move(reserved)));
  ASSIGN_OR_RETURN(const Prepared prepared, PrepareDatabase(config, database.connect));
  return prepared.migrations;
}

}  // namespace skiplane::app
