#include "server/rpc/admin/convert_admin.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/admin/convert_queue.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/page_token.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/settings/convert_settings.h"
#include "server/rpc/settings/setting_paths.h"

namespace skiplane::rpc {
namespace {

constexpr int kPageSizeDefault = 100;
constexpr int kSummariesDefault = 1000;
constexpr int kSummariesMax = 10000;
constexpr int kPageSizeMax = 1000;

// Settings to which each single setting may be changed: TABLE wants delays that may be there.
model::QueueSettings SettingsOfAnyKind() {
  model::QueueSettings settings;
  settings.retry.delays = {model::kRetryDelayDefault};
  return settings;
}

}  // namespace

absl::StatusOr<broker::CreateQueueCall> ReadCreateQueue(v1::CreateQueueRequest* request) {
  broker::CreateQueueCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->name(), "name"));
  if (request->has_settings()) {
    ASSIGN_OR_RETURN(call.settings,
                     ChangeSettings(model::QueueSettings(), request->settings(), AllSettings()));
  }
  RETURN_IF_ERROR(CheckNumber(request->lane_count(), {0, model::kLanesMax}, {"lane_count"}));
  if (request->lane_count() != 0) call.lane_count = request->lane_count();
  call.name = std::move(*request->mutable_name());
  return call;
}

absl::StatusOr<broker::GetQueueCall> ReadGetQueue(v1::GetQueueRequest* request) {
  RETURN_IF_ERROR(model::CheckQueueName(request->name(), "name"));
  return broker::GetQueueCall{std::move(*request->mutable_name())};
}

namespace {

template <typename Request>
absl::StatusOr<broker::ListQueuesCall> ReadPageOfQueues(const Request& request, int size_default,
                                                        int size_most) {
  broker::ListQueuesCall page;
  if (request.page_size() < 0) return InvalidField({"page_size"}, "must not be negative");
  page.limit = request.page_size() == 0 ? size_default : std::min(request.page_size(), size_most);
  if (!request.page_token().empty()) {
    ASSIGN_OR_RETURN(page.after, DecodePageToken(request.page_token()));
    RETURN_IF_ERROR(model::CheckQueueName(page.after, "page_token"));
  }
  return page;
}

}  // namespace

absl::StatusOr<broker::ListQueuesCall> ReadListQueues(v1::ListQueuesRequest* request) {
  return ReadPageOfQueues(*request, kPageSizeDefault, kPageSizeMax);
}

absl::StatusOr<broker::ListQueuesCall> ReadListSummaries(v1::ListQueueSummariesRequest* request) {
  return ReadPageOfQueues(*request, kSummariesDefault, kSummariesMax);
}

absl::StatusOr<broker::WatchCall> ReadWatch(v1::WatchRequest* request) {
  RETURN_IF_ERROR(CheckCount(request->queues_size(), {0, model::kQueuesPerListMax}, {"queues"}));
  broker::WatchCall call;
  for (std::string& queue : *request->mutable_queues()) {
    RETURN_IF_ERROR(
        model::CheckQueueName(queue, absl::StrCat("queues[", call.queues.size(), "]")));
    call.queues.push_back(std::move(queue));
  }
  return call;
}

absl::StatusOr<broker::UpdateQueueCall> ReadUpdateQueue(v1::UpdateQueueRequest* request) {
  broker::UpdateQueueCall call;
  RETURN_IF_ERROR(model::CheckQueueName(request->name(), "name"));
  ASSIGN_OR_RETURN(SettingPaths paths, ReadMask(request->update_mask(), request->settings()));
  if (!request->etag().empty()) {
    call.version = ReadEtag(request->etag());
  }
  // What no queue could take is refused before the broker is asked.
  RETURN_IF_ERROR(ChangeSettings(SettingsOfAnyKind(), request->settings(), paths).status());
  call.change = [wire = std::move(*request->mutable_settings()),
                 paths = std::move(paths)](const model::QueueSettings& base) {
    return ChangeSettings(base, wire, paths);
  };
  call.name = std::move(*request->mutable_name());
  return call;
}

absl::StatusOr<broker::PauseQueueCall> ReadPauseQueue(v1::PauseQueueRequest* request) {
  RETURN_IF_ERROR(model::CheckQueueName(request->name(), "name"));
  ASSIGN_OR_RETURN(const auto mode, ReadEnum(request->mode(), {"mode"}));
  RETURN_IF_ERROR(CheckText(request->reason(), model::kPauseReasonBytesMax, {"reason"}));
  broker::PauseQueueCall call;
  call.mode = mode.value_or(call.mode);
  call.name = std::move(*request->mutable_name());
  call.reason = std::move(*request->mutable_reason());
  return call;
}

absl::StatusOr<broker::PauseQueueCall> ReadResumeQueue(v1::ResumeQueueRequest* request) {
  RETURN_IF_ERROR(model::CheckQueueName(request->name(), "name"));
  broker::PauseQueueCall call;
  call.name = std::move(*request->mutable_name());
  call.mode = model::PauseMode::kNone;
  return call;
}

}  // namespace skiplane::rpc
