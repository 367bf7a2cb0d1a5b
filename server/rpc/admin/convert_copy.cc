#include "server/rpc/admin/convert_copy.h"

#include <optional>
#include <utility>
#include <vector>

#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_new_task.h"
#include "server/rpc/broker/convert_task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/list_token.h"

namespace skiplane::rpc {
namespace {

template <typename Request>
absl::Status ReadNewContent(Request* request, std::optional<model::TaskContent>* content) {
  if (!request->has_new_content()) return absl::OkStatus();
  absl::StatusOr<model::TaskContent> read = ReadContent(request->mutable_new_content());
  if (!read.ok()) return base::PrefixField("new_content.", read.status());
  *content = *std::move(read);
  return absl::OkStatus();
}

template <typename Request>
absl::StatusOr<broker::CopyTaskCall> ReadCopy(Request* request) {
  broker::CopyTaskCall call;
  ASSIGN_OR_RETURN(call.id, model::ParseTaskId(request->task_id()));
  RETURN_IF_ERROR(CheckText(request->stage(), model::kStageNameBytesMax, {"stage"}));
  RETURN_IF_ERROR(ReadNewContent(request, &call.content));
  call.queue = std::move(*request->mutable_queue());
  call.stage = std::move(*request->mutable_stage());
  return call;
}

}  // namespace

absl::StatusOr<broker::ChangeTaskCall> ReadRetryTask(v1::RetryTaskRequest* request) {
  broker::ChangeTaskCall call;
  ASSIGN_OR_RETURN(call.id, model::ParseTaskId(request->task_id()));
  call.change.kind = model::TaskChange::Kind::kRetry;
  RETURN_IF_ERROR(ReadNewContent(request, &call.content));
  return call;
}

absl::StatusOr<broker::CopyTaskCall> ReadCopyTask(v1::CopyTaskRequest* request) {
  if (!request->queue().empty()) {
    RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  }
  RETURN_IF_ERROR(CheckText(request->key(), model::kKeyBytesMax, {"key"}));
  ASSIGN_OR_RETURN(broker::CopyTaskCall call, ReadCopy(request));
  call.key = std::move(*request->mutable_key());
  return call;
}

absl::StatusOr<broker::CopyTaskCall> ReadMoveTask(v1::MoveTaskRequest* request) {
  RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  ASSIGN_OR_RETURN(broker::CopyTaskCall call, ReadCopy(request));
  call.moves = true;
  return call;
}

absl::StatusOr<broker::ListSchedulesCall> ReadListSchedules(v1::ListSchedulesRequest* request) {
  broker::ListSchedulesCall call;
  const std::string scope = TokenScope(*request);
  if (!request->queue().empty()) {
    RETURN_IF_ERROR(model::CheckQueueName(request->queue(), "queue"));
  }
  call.queue = std::move(*request->mutable_queue());
  ASSIGN_OR_RETURN(call.limit, ReadPageSize(request->page_size()));
  if (request->page_token().empty()) return call;
  ASSIGN_OR_RETURN(const std::vector<std::string> parts,
                   ReadListToken(request->page_token(), scope, 3));
  int64_t micros = 0;
  RETURN_IF_ERROR(ReadNumbers(parts, &micros, &call.after.id.lane, &call.after.id.id));
  call.after.time = absl::FromUnixMicros(micros);
  return call;
}

void WriteSchedules(broker::SchedulePage* page, const std::string& scope,
                    v1::ListSchedulesResponse* response) {
  for (model::TaskView& task : page->tasks.items) WriteTask(&task, response->add_tasks());
  if (!page->next.has_value()) return;
  const model::PlannedPlace& next = *page->next;
  response->set_next_page_token(
      WriteListToken({std::to_string(absl::ToUnixMicros(next.time)),
                      std::to_string(next.id.lane), std::to_string(next.id.id)},
                     scope));
}

}  // namespace skiplane::rpc
