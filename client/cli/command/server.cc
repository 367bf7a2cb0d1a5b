// skiplane info and health: brokers and their database.
#include "client/cli/base/health.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct InfoOptions {};

struct HealthOptions {
  std::string service{};
};

absl::Status Info(Session& session, const InfoOptions&) {
  auto answer = session.Call<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(
      {}, &AdminMethods::GetServerInfo);
  if (!answer.ok()) return answer.status();
  v1::ServerInfo info = std::move(*answer->mutable_info());
  if (session.json()) {
    ShowOne(session, info);
    return absl::OkStatus();
  }
  const auto brokers = session.Call<v1::ListBrokersRequest, v1::ListBrokersResponse>(
      {}, &AdminMethods::ListBrokers);
  if (!brokers.ok()) return brokers.status();
  Listing tables(session, {{"TABLE", "table"},
                           {"ROW BYTES", "row_bytes"},
                           {"TOAST BYTES", "toast_bytes"},
                           {"INDEX BYTES", "index_bytes"},
                           {"DEAD ROWS", "dead_row_count"}});
  for (const v1::TableSize& table : info.tables()) tables.Add(table);
  info.clear_tables();
  ShowOne(session, info);
  session.out() << "\n";
  Listing list(session, {{"BROKER", "name"},
                         {"VERSION", "version"},
                         {"SINCE", "start_time"},
                         {"LEADS", "is_leader"},
                         {"ANSWERS", "is_this"}});
  for (const v1::BrokerInfo& broker : brokers->brokers()) list.Add(broker);
  list.End();
  session.out() << "\n";
  tables.End();
  return absl::OkStatus();
}

absl::Status Health(Session& session, const HealthOptions& options) {
  const absl::Status status = CheckHealth(session, options.service);
  if (status.ok() && session.json()) session.out() << "{\"status\":\"SERVING\"}\n";
  if (status.ok() && !session.json()) session.out() << "serving\n";
  return status;
}

}  // namespace

void DeclareServer(CLI::App* app, Plan* plan) {
  AddView(app, plan, "info",
          "Shows which broker answers, its database and the sizes of its tables, and which brokers "
          "run.",
          std::make_shared<InfoOptions>(), Info);
  const auto options = std::make_shared<HealthOptions>();
  CLI::App* const health = AddView(
      app, plan, "health",
      "Says whether the broker serves: exit code 0, or 1 with a line that says why not. It needs "
      "no credentials.",
      options, Health);
  AddText(health, "--service", &options->service,
          "liveness: only whether the process answers; or the full name of a service")
      .Type("NAME")
      .Default("the broker as a whole");
}

}  // namespace skiplane::cli
