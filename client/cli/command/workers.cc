// skiplane workers.
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/input/table_options.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct WorkerOptions {
  std::string handle{};
  std::optional<int> limit{};
};

absl::Status List(Session& session, const WorkerOptions& options) {
  return ShowPages<v1::ListWorkersRequest, v1::ListWorkersResponse>(
      session, {}, &AdminMethods::ListWorkers,
      [](const v1::ListWorkersResponse& page) { return page.workers(); },
      {{"NAME", "name"},
       {"WORKER", "worker_handle"},
       {"COMMAND", "command"},
       {"HOLDS", "leased_count"},
       {"AT ONCE", "concurrency"},
       {"QUEUES", "queues"},
       {"VERSION", "client_version"},
       {"SINCE", "create_time"},
       {"LOST AT", "expire_time"}},
      options.limit.value_or(100));
}

template <v1::WorkerCommand command>
absl::Status Ask(Session& session, const WorkerOptions& options) {
  v1::CommandWorkerRequest request;
  request.set_worker_handle(options.handle);
  request.set_command(command);
  const auto answer = session.Call<v1::CommandWorkerRequest, v1::CommandWorkerResponse>(
      std::move(request), &AdminMethods::CommandWorker);
  if (!answer.ok()) return answer.status();
  ShowOne(session, answer->worker());
  return absl::OkStatus();
}

void AddAsk(CLI::App* workers, Plan* plan, const std::string& name,
            const std::string& description,
            absl::Status (*run)(Session&, const WorkerOptions&)) {
  const auto options = std::make_shared<WorkerOptions>();
  CLI::App* const app = AddCommand(workers, plan, name, description, options, run);
  AddText(app, "HANDLE", &options->handle, "The worker, as the column WORKER shows it")
      .Required();
}

}  // namespace

void DeclareWorkers(CLI::App* app, Plan* plan) {
  const auto options = std::make_shared<WorkerOptions>();
  CLI::App* const workers = AddView(
      app, plan, "workers",
      "Lists living workers and how many tasks each holds, or asks one for something. A worker "
      "hears of it with its next heartbeat: within a third of its lease duration.",
      options, List);
  AddNumber(workers, "--limit", &options->limit, "At most so many; 0: all").Default("100");
  AddTableOptions(workers, plan);
  AddAsk(workers, plan, "quiet",
         "Asks a worker to take no more tasks and to finish what it holds; it waits then.",
         &Ask<v1::WORKER_COMMAND_QUIET>);
  AddAsk(workers, plan, "stop",
         "Asks a worker to finish what it holds, or give it back, and to exit.",
         &Ask<v1::WORKER_COMMAND_STOP>);
  AddAsk(workers, plan, "run", "Asks a quiet worker to go on.", &Ask<v1::WORKER_COMMAND_RUN>);
}

}  // namespace skiplane::cli
