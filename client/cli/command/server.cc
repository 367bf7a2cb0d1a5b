// skiplane info: brokers and their database.
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct InfoOptions {};

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

}  // namespace

void DeclareServer(CLI::App* app, Plan* plan) {
  AddView(app, plan, "info",
          "Shows which broker answers, its database and the sizes of its tables, and which brokers "
          "run.",
          std::make_shared<InfoOptions>(), Info);
}

}  // namespace skiplane::cli
