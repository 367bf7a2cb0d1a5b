#include "server/rpc/broker/convert_enqueue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_new_task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/wire_enum.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kTasks = "tasks";

// Checks the queue of every task; the number of different ones.
absl::StatusOr<size_t> CheckTaskQueues(const v1::EnqueueRequest& request) {
  absl::flat_hash_set<absl::string_view> names;
  for (size_t i = 0; i < static_cast<size_t>(request.tasks_size()); ++i) {
    const std::string& own = request.tasks(static_cast<int>(i)).queue();
    const Field field = {"queue", kTasks, i};
    if (own.empty() && request.queue().empty()) {
      return InvalidField(field, "must be set, as the request names no queue");
    }
    if (!own.empty()) RETURN_IF_ERROR(model::CheckQueueName(own, field.Path()));
    names.insert(own.empty() ? request.queue() : own);
    if (names.size() > model::kQueuesPerEnqueueMax) {
      return InvalidField(field, absl::StrCat("is one queue too many: a call has at most ",
                                              model::kQueuesPerEnqueueMax));
    }
  }
  return names.size();
}

// A call of one queue is the same wherever that is named.
absl::Status ReadQueues(v1::EnqueueRequest* request, broker::EnqueueCall* call) {
  const bool tasks_name_any =
      std::ranges::any_of(request->tasks(), [](const auto& task) { return !task.queue().empty(); });
  if (!request->queue().empty() || !tasks_name_any) {
    RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  }
  if (tasks_name_any) {
    RETURN_IF_ERROR(
        CheckCount(request->tasks_size(), {1, model::kTasksPerCallMax}, {kTasks}));
    ASSIGN_OR_RETURN(const size_t queues, CheckTaskQueues(*request));
    call->has_several_queues = queues > 1;
    const std::string& first = request->tasks(0).queue();
    if (queues == 1 && !first.empty() && first != request->queue()) {
      request->set_queue(first);
      call->queue_field = "tasks[0].queue";
    }
  }
  call->queue = std::move(*request->mutable_queue());
  if (!tasks_name_any || call->has_several_queues) return absl::OkStatus();
  for (v1::NewTask& task : *request->mutable_tasks()) task.clear_queue();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<broker::EnqueueCall> ReadEnqueue(v1::EnqueueRequest* request) {
  broker::EnqueueCall call;
  RETURN_IF_ERROR(ReadQueues(request, &call));
  RETURN_IF_ERROR(CheckCount(request->tasks_size(), {1, model::kTasksPerCallMax}, {kTasks}));
  RETURN_IF_ERROR(CheckText(request->request_id(), model::kRequestIdBytesMax, {"request_id"}));
  call.tasks.reserve(static_cast<size_t>(request->tasks_size()));
  for (v1::NewTask& wire : *request->mutable_tasks()) {
    ASSIGN_OR_RETURN(model::NewTask task, ReadNewTask(&wire, {"", kTasks, call.tasks.size()}));
    call.tasks.push_back(std::move(task));
  }
  call.request_id = std::move(*request->mutable_request_id());
  return call;
}

void WriteEnqueueResult(const model::EnqueueResult& result, v1::EnqueueResult* wire) {
  wire->set_task_id(model::FormatTaskId(result.id));
  wire->set_outcome(ToWire(result.outcome));
  wire->set_state(ToWire(result.state));
}

void WriteEnqueue(std::vector<broker::EnqueueResult>* results, v1::EnqueueResponse* response) {
  response->mutable_results()->Reserve(static_cast<int>(results->size()));
  for (const broker::EnqueueResult& result : *results) {
    WriteEnqueueResult(result, response->add_results());
  }
}

}  // namespace skiplane::rpc
