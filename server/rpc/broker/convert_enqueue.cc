#include "server/rpc/broker/convert_enqueue.h"

#include <string>
#include <utility>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_new_task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/wire_enum.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kTasks = "tasks";

}  // namespace

absl::StatusOr<broker::EnqueueCall> ReadEnqueue(v1::EnqueueRequest* request) {
  broker::EnqueueCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  RETURN_IF_ERROR(CheckCount(request->tasks_size(), {1, model::kTasksPerCallMax}, {kTasks}));
  RETURN_IF_ERROR(CheckText(request->request_id(), model::kRequestIdBytesMax, {"request_id"}));
  call.tasks.reserve(static_cast<size_t>(request->tasks_size()));
  for (v1::NewTask& wire : *request->mutable_tasks()) {
    ASSIGN_OR_RETURN(model::NewTask task, ReadNewTask(&wire, {"", kTasks, call.tasks.size()}));
    call.tasks.push_back(std::move(task));
  }
  call.queue = std::move(*request->mutable_queue());
  call.request_id = std::move(*request->mutable_request_id());
  return call;
}

void WriteEnqueueResult(const model::EnqueueResult& result, v1::EnqueueResult* wire) {
  wire->set_task_id(model::FormatTaskId(result.id));
  wire->set_outcome(ToWire(result.outcome));
}

void WriteEnqueue(std::vector<broker::EnqueueResult>* results, v1::EnqueueResponse* response) {
  response->mutable_results()->Reserve(static_cast<int>(results->size()));
  for (const broker::EnqueueResult& result : *results) {
    WriteEnqueueResult(result, response->add_results());
  }
}

}  // namespace skiplane::rpc
