// The requests of AdminService. The first byte chooses the method.
#include <string>

#include "server/model/limits.h"
#include "server/model/queue.h"
#include "server/model/task_filter.h"
#include "server/rpc/admin/convert_admin.h"
#include "server/rpc/admin/convert_bulk.h"
#include "server/rpc/admin/convert_filter.h"
#include "server/rpc/admin/convert_minutes.h"
#include "server/rpc/admin/convert_copy.h"
#include "server/rpc/admin/convert_operator.h"
#include "server/rpc/admin/convert_report.h"
#include "server/rpc/call/list_token.h"
#include "tests/fuzz/targets/request.h"

namespace skiplane::fuzz {
namespace {

void DemandSettings(const model::QueueSettings& settings) {
  Demand(model::CheckSettings(settings, "").ok(), "settings are in their ranges");
  const auto kept = model::SettingsFromJson(model::SettingsToJson(settings));
  Demand(kept.ok() && model::CheckSettings(*kept, "").ok(), "settings are kept");
}

void ObeysCreateQueue(broker::CreateQueueCall& call) {
  DemandQueueName(call.name);
  if (call.lane_count) DemandNumber(*call.lane_count, 1, model::kLanesMax);
  if (call.settings) DemandSettings(*call.settings);
}

void ObeysUpdateQueue(broker::UpdateQueueCall& call) {
  DemandQueueName(call.name);
  const auto changed = call.change(model::QueueSettings());
  if (changed.ok()) {
    DemandSettings(*changed);
  } else {
    DemandRefusal(changed.status());
  }
}

void ObeysPauseQueue(broker::PauseQueueCall& call) {
  DemandQueueName(call.name);
  DemandText(call.reason, model::kPauseReasonBytesMax);
}

void ObeysGetTask(broker::GetTaskCall& call) {
  Demand(call.key.empty() == call.queue.empty(), "a key is one of a queue");
  DemandText(call.key, model::kKeyBytesMax);
  DemandDuration(call.wait, absl::ZeroDuration(), model::kWaitMax);
  DemandNumber(call.attempts_max, 0, rpc::kPageMost);
}

// All but its queue, which a list of several queues has beside it.
void DemandConditions(const model::TaskFilter& filter) {
  DemandText(filter.stage, model::kStageNameBytesMax);
  DemandText(filter.key_prefix, model::kKeyBytesMax);
  DemandText(filter.fingerprint, model::kErrorTypeBytesMax);
  DemandText(filter.error_type, model::kErrorTypeBytesMax);
  DemandText(filter.payload_text, model::kErrorTypeBytesMax);
  DemandNumber(filter.min_attempts, 0, model::kMaxAttemptsMax);
  DemandNumber(static_cast<int64_t>(filter.ids.size()), 0, model::kTasksPerCallMax);
  DemandHeaders(filter.headers);
  for (const auto& age : {filter.min_age, filter.max_age}) {
    if (age) DemandDuration(*age, absl::ZeroDuration(), model::kStartAheadMax);
  }
}

void DemandFilter(const model::TaskFilter& filter) {
  DemandQueueName(filter.queue);
  DemandConditions(filter);
}

void ObeysListTasks(broker::ListTasksCall& call) {
  DemandConditions(call.filter);
  if (call.queues.empty()) DemandQueueName(call.filter.queue);
  for (const std::string& queue : call.queues) DemandQueueName(queue);
  DemandNumber(call.limit, 1, rpc::kPageMost);
  Demand(!call.filter.states.IsEmpty(), "a list is of some states");
  Demand(call.after.value_or(0) >= 0, "a list goes on somewhere");
  Demand(call.worker.empty() || call.worker.size() == 16, "a worker is named by its handle");
}

void DemandChange(const model::TaskChange& change) {
  DemandDuration(change.postpone, absl::ZeroDuration(), model::kStartAheadMax);
  Demand(change.schedule_time < absl::Now() + model::kStartAheadMax + absl::Minutes(1),
         "a schedule time is not too late");
}

void ObeysChangeTask(broker::ChangeTaskCall& call) { DemandChange(call.change); }

void ObeysStartBulk(broker::StartBulkCall& call) {
  DemandFilter(call.filter);
  DemandChange(call.change);
  DemandDuration(call.wait, absl::ZeroDuration(), model::kWaitMax);
  model::TaskFilter filter;
  model::TaskChange change;
  const std::string text = model::BulkToJson(call.filter, call.change);
  Demand(model::BulkFromJson(text, &filter, &change).ok(), "an operation can be read again");
  Demand(model::BulkToJson(filter, change) == text, "an operation is kept");
}

void ObeysDeleteQueue(broker::DeleteQueueCall& call) {
  DemandQueueName(call.name);
  DemandDuration(call.wait, absl::ZeroDuration(), model::kWaitMax);
}

void ObeysContent(const std::optional<model::TaskContent>& content) {
  if (!content) return;
  Demand(content->payload.size() <= model::kPayloadBytesMax, "a payload fits");
  DemandText(content->content_type, model::kContentTypeBytesMax);
  DemandHeaders(content->headers);
}

void ObeysCopyTask(broker::CopyTaskCall& call) {
  if (call.moves || !call.queue.empty()) DemandQueueName(call.queue);
  DemandText(call.stage, model::kStageNameBytesMax);
  DemandText(call.key, model::kKeyBytesMax);
  Demand(!call.moves || call.key.empty(), "a move keeps the key");
  ObeysContent(call.content);
}

void ObeysPreview(broker::PreviewCall& call) {
  DemandNumber(call.count, 1, rpc::kPageMost);
  DemandText(call.cron, model::kCronBytesMax);
  DemandText(call.time_zone, model::kTimeZoneBytesMax);
  Demand(call.task || call.period || !call.cron.empty(), "a preview is of some schedule");
}

void ObeysListErrors(broker::ListErrorsCall& call) {
  if (!call.queue.empty()) DemandQueueName(call.queue);
  Demand(!call.queue.empty() || call.stage.empty(), "a stage is one of a queue");
  DemandText(call.stage, model::kStageNameBytesMax);
  DemandNumber(call.limit, 1, rpc::kPageMost);
}

void ObeysAnnotateError(broker::AnnotateErrorCall& call) {
  DemandQueueName(call.queue);
  DemandText(call.fingerprint, model::kErrorTypeBytesMax);
  Demand(!call.fingerprint.empty(), "a note is of some group");
  DemandText(call.text.value_or(""), 4096);
  Demand(call.text || call.is_muted, "something is said");
}

void ObeysCommandWorker(broker::CommandWorkerCall& call) {
  DemandText(call.handle, 64);
  Demand(!call.handle.empty(), "a command is for some worker");
  DemandNumber(static_cast<int>(call.command), 1, 3);
}

void ObeysStatistics(broker::StatisticsCall& call) {
  DemandQueueName(call.queue);
  DemandText(call.stage, model::kStageNameBytesMax);
  if (call.start && call.end) Demand(*call.start <= *call.end, "a time begins before it ends");
}

void ObeysMinutes(broker::MinutesCall& call) {
  DemandQueueName(call.queue);
  DemandText(call.stage, model::kStageNameBytesMax);
  Demand(call.start <= call.end, "a time begins before it ends");
  DemandDuration(call.step, absl::Minutes(1), absl::Hours(24));
}

void ObeysSummaries(broker::ListQueuesCall& call) { DemandNumber(call.limit, 1, 10000); }

void ObeysWatch(broker::WatchCall& call) {
  DemandNumber(static_cast<int64_t>(call.queues.size()), 0, model::kQueuesPerListMax);
  for (const std::string& queue : call.queues) DemandQueueName(queue);
}

// Of those that have no more to be demanded of.
template <typename Call>
void ObeysAny(Call& /*call*/) {}

template <typename Call>
void ObeysLimit(Call& call) {
  DemandNumber(call.limit, 1, rpc::kPageMost);
}

void ReadTaskRequest(size_t method, absl::string_view bytes) {
  switch (method) {
    case 0: return ReadRequest(bytes, &rpc::ReadGetTask, &ObeysGetTask);
    case 1: return ReadRequest(bytes, &rpc::ReadListTasks, &ObeysListTasks);
    case 2: return ReadRequest(bytes, &rpc::ReadExplainTask, &ObeysAny<broker::ExplainTaskCall>);
    case 3: return ReadRequest(bytes, &rpc::ReadPrioritizeTask, &ObeysChangeTask);
    case 4: return ReadRequest(bytes, &rpc::ReadRescheduleTask, &ObeysChangeTask);
    case 5: return ReadRequest(bytes, &rpc::ReadRetryTask, &ObeysChangeTask);
    case 6: return ReadRequest(bytes, &rpc::ReadCancelTask, &ObeysChangeTask);
    case 7: return ReadRequest(bytes, &rpc::ReadDeleteTask, &ObeysChangeTask);
    case 8: return ReadRequest(bytes, &rpc::ReadPauseTask, &ObeysChangeTask);
    case 9: return ReadRequest(bytes, &rpc::ReadResumeTask, &ObeysChangeTask);
    case 10: return ReadRequest(bytes, &rpc::ReadTriggerTask, &ObeysChangeTask);
    default: return ReadRequest(bytes, &rpc::ReadPreviewSchedule, &ObeysPreview);
  }
}

void ReadAdminRequest(absl::string_view bytes) {
  const size_t method = TakeChoice(&bytes, 36);
  switch (method) {
    case 12: return ReadRequest(bytes, &rpc::ReadCreateQueue, &ObeysCreateQueue);
    case 13: return ReadRequest(bytes, &rpc::ReadGetQueue, &ObeysAny<broker::GetQueueCall>);
    case 14: return ReadRequest(bytes, &rpc::ReadListQueues, &ObeysLimit<broker::ListQueuesCall>);
    case 15: return ReadRequest(bytes, &rpc::ReadUpdateQueue, &ObeysUpdateQueue);
    case 16: return ReadRequest(bytes, &rpc::ReadPauseQueue, &ObeysPauseQueue);
    case 17: return ReadRequest(bytes, &rpc::ReadResumeQueue, &ObeysPauseQueue);
    case 18: return ReadRequest(bytes, &rpc::ReadStartBulk, &ObeysStartBulk);
    case 19: return ReadRequest(bytes, &rpc::ReadRetryGroup, &ObeysStartBulk);
    case 20: return ReadRequest(bytes, &rpc::ReadGetBulk, &ObeysAny<broker::GetBulkCall>);
    case 21: return ReadRequest(bytes, &rpc::ReadStopBulk, &ObeysAny<broker::StopBulkCall>);
    case 22: return ReadRequest(bytes, &rpc::ReadListBulks, &ObeysLimit<broker::ListBulksCall>);
    case 23: return ReadRequest(bytes, &rpc::ReadListErrors, &ObeysListErrors);
    case 24: return ReadRequest(bytes, &rpc::ReadStatistics, &ObeysStatistics);
    case 25: return ReadRequest(bytes, &rpc::ReadListWorkers, &ObeysLimit<broker::ListWorkersCall>);
    case 26: return ReadRequest(bytes, &rpc::ReadListAudit, &ObeysLimit<broker::ListAuditCall>);
    case 27: return ReadRequest(bytes, &rpc::ReadListSummaries, &ObeysSummaries);
    case 28: return ReadRequest(bytes, &rpc::ReadMinutes, &ObeysMinutes);
    case 29: return ReadRequest(bytes, &rpc::ReadCopyTask, &ObeysCopyTask);
    case 30: return ReadRequest(bytes, &rpc::ReadMoveTask, &ObeysCopyTask);
    case 31: return ReadRequest(bytes, &rpc::ReadListSchedules,
                                &ObeysLimit<broker::ListSchedulesCall>);
    case 32: return ReadRequest(bytes, &rpc::ReadAnnotateError, &ObeysAnnotateError);
    case 33: return ReadRequest(bytes, &rpc::ReadDeleteQueue, &ObeysDeleteQueue);
    case 34: return ReadRequest(bytes, &rpc::ReadCommandWorker, &ObeysCommandWorker);
    case 35: return ReadRequest(bytes, &rpc::ReadWatch, &ObeysWatch);
    default: return ReadTaskRequest(method, bytes);
  }
}

const Target kAdminRequest("admin_request", &ReadAdminRequest);

}  // namespace
}  // namespace skiplane::fuzz
