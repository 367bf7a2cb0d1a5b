// What LocalOperator tells of workers and asks of them.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/job/admin_job.h"
#include "server/broker/operate/change_once.h"
#include "server/broker/operate/local_operator.h"
#include "server/store/reports.h"
#include "server/store/sessions.h"
#include "server/store/task_change.h"

namespace skiplane::broker {
namespace {

absl::Status WorkerNotFound() {
  return base::RefuseField(absl::StatusCode::kNotFound, "WORKER_NOT_FOUND", "worker_handle",
                           "no worker of this handle has a session: it ended, was lost or never "
                           "was, or leases without a worker_id; ListWorkers tells those that live");
}

absl::Status Command(pg::Session& session, const CommandWorkerCall& call) {
  const auto change = [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const bool is_found,
                     store::CommandWorker(session, call.handle, call.command));
    if (!is_found) return WorkerNotFound();
    RETURN_IF_ERROR(store::AddAudit(session, call.origin, "", 0));
    return "";
  };
  return ChangeOnce(session, call.origin, change).status();
}

}  // namespace

void LocalOperator::ListWorkers(ListWorkersCall call, Callback<std::vector<model::Worker>> done) {
  const std::string party = call.party;
  SubmitJob(context_.turns, TurnOf::kList, party, std::move(done),
            [this, call = std::move(call)](pg::Session& session) {
              return ReadWorkers(session, call);
            });
}

absl::StatusOr<std::vector<model::Worker>> LocalOperator::ReadWorkers(
    pg::Session& session, const ListWorkersCall& call) {
  ASSIGN_OR_RETURN(
      std::vector<model::Worker> workers,
      store::ListWorkers(session, call.after_name, call.after_handle, call.limit));
  for (model::Worker& worker : workers) RETURN_IF_ERROR(AddQueues(session, &worker));
  return workers;
}

absl::Status LocalOperator::AddQueues(pg::Session& session, model::Worker* worker) {
  std::set<std::string> names;
  for (const model::TaskId& task : worker->tasks) {
    ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, task.lane));
    if (queue != nullptr) names.insert(queue->name);
  }
  worker->queues.assign(names.begin(), names.end());
  return absl::OkStatus();
}

// A worker that was asked to stop may have ended its session before it is read, and before a repeat
// of the call: it was asked all the same.
void LocalOperator::CommandWorker(CommandWorkerCall call, Callback<model::Worker> done) {
  const std::string handle = call.handle;
  const std::string party = call.party;
  SubmitChange(
      context_.turns, party, std::move(done),
      [call = std::move(call)](pg::Session& session) { return Command(session, call); },
      [this, handle](pg::Session& session) -> absl::StatusOr<model::Worker> {
        ASSIGN_OR_RETURN(std::optional<model::Worker> worker,
                         store::GetWorker(session, handle));
        if (!worker.has_value()) {
          worker.emplace();
          worker->handle = handle;
        }
        RETURN_IF_ERROR(AddQueues(session, &*worker));
        return *std::move(worker);
      });
}

}  // namespace skiplane::broker
