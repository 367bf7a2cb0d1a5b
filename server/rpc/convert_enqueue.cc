#include "server/rpc/convert_enqueue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/check.h"
#include "server/rpc/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kTasks = "tasks";

absl::Status CheckPayload(const std::string& payload, size_t index) {
  if (payload.size() <= static_cast<size_t>(model::kPayloadBytesMax)) return absl::OkStatus();
  return InvalidField({"payload", kTasks, index}, absl::StrCat("has ", payload.size(),
                                                               " bytes; at most ",
                                                               model::kPayloadBytesMax));
}

absl::StatusOr<model::Headers> ReadHeaders(v1::NewTask* wire, size_t index) {
  const Field field = {"headers", kTasks, index};
  if (wire->headers().empty()) return model::Headers();
  RETURN_IF_ERROR(CheckCount(static_cast<int>(wire->headers().size()),
                             {0, static_cast<int64_t>(model::kHeadersMax)}, field));
  model::Headers headers;
  headers.reserve(wire->headers().size());
  for (auto& [key, value] : *wire->mutable_headers()) {
    const Field entry = {"headers", kTasks, index, &key};
    RETURN_IF_ERROR(CheckRequiredText(key, model::kHeaderKeyBytesMax, entry));
    RETURN_IF_ERROR(CheckText(value, model::kHeaderValueBytesMax, entry));
    headers.emplace_back(key, std::move(value));
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

absl::Status ReadStart(const v1::NewTask& wire, size_t index, model::NewTask* task) {
  if (wire.has_delay()) {
    ASSIGN_OR_RETURN(task->delay,
                     ReadDuration(wire.delay(), {absl::ZeroDuration(), model::kStartAheadMax},
                                  {"delay", kTasks, index}));
  }
  if (wire.has_schedule_time()) {
    const Field field = {"schedule_time", kTasks, index};
    ASSIGN_OR_RETURN(const absl::Time time, ReadTime(wire.schedule_time(), field));
    // The only use of the broker's clock for a task's time: a bound of ten years needs no better.
    if (time > absl::Now() + model::kStartAheadMax) {
      return InvalidField(field, "is more than 10 years ahead");
    }
    task->schedule_time = time;
  }
  return absl::OkStatus();
}

absl::StatusOr<model::NewTask> ReadTask(v1::NewTask* wire, size_t index) {
  model::NewTask task;
  RETURN_IF_ERROR(CheckPayload(wire->payload(), index));
  RETURN_IF_ERROR(CheckText(wire->content_type(), model::kContentTypeBytesMax,
                            {"content_type", kTasks, index}));
  ASSIGN_OR_RETURN(task.headers, ReadHeaders(wire, index));
  RETURN_IF_ERROR(CheckNumber(wire->priority(), {model::kPriorityMin, model::kPriorityMax},
                              {"priority", kTasks, index}));
  RETURN_IF_ERROR(ReadStart(*wire, index, &task));
  RETURN_IF_ERROR(CheckNumber(wire->max_attempts(), {0, model::kMaxAttemptsMax},
                              {"max_attempts", kTasks, index}));
  RETURN_IF_ERROR(CheckText(wire->key(), model::kKeyBytesMax, {"key", kTasks, index}));
  task.payload = std::move(*wire->mutable_payload());
  task.content_type = std::move(*wire->mutable_content_type());
  task.priority = static_cast<int16_t>(wire->priority());
  task.max_attempts = wire->max_attempts();
  task.key = std::move(*wire->mutable_key());
  return task;
}

}  // namespace

absl::StatusOr<broker::EnqueueCall> ReadEnqueue(v1::EnqueueRequest* request) {
  broker::EnqueueCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  RETURN_IF_ERROR(CheckCount(request->tasks_size(), {1, model::kTasksPerCallMax}, {kTasks}));
  RETURN_IF_ERROR(CheckText(request->request_id(), model::kRequestIdBytesMax, {"request_id"}));
  call.tasks.reserve(static_cast<size_t>(request->tasks_size()));
  for (v1::NewTask& wire : *request->mutable_tasks()) {
    ASSIGN_OR_RETURN(model::NewTask task, ReadTask(&wire, call.tasks.size()));
    call.tasks.push_back(std::move(task));
  }
  call.queue = std::move(*request->mutable_queue());
  call.request_id = std::move(*request->mutable_request_id());
  return call;
}

void WriteEnqueue(std::vector<broker::EnqueueResult>* results, v1::EnqueueResponse* response) {
  response->mutable_results()->Reserve(static_cast<int>(results->size()));
  for (const broker::EnqueueResult& result : *results) {
    v1::EnqueueResult* wire = response->add_results();
    wire->set_task_id(model::FormatTaskId(result.id));
    wire->set_outcome(result.existing ? v1::ENQUEUE_OUTCOME_EXISTING
                                      : v1::ENQUEUE_OUTCOME_CREATED);
  }
}

}  // namespace skiplane::rpc
