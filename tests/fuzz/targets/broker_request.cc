// The requests of BrokerService. The first byte chooses the method.
#include <string>
#include <variant>

#include "server/model/limits.h"
#include "server/model/queue.h"
#include "server/rpc/broker/convert_enqueue.h"
#include "server/rpc/broker/convert_heartbeat.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/convert_settle.h"
#include "tests/fuzz/targets/request.h"

namespace skiplane::fuzz {
namespace {

void DemandNewTask(const model::NewTask& task) {
  Demand(task.payload.size() <= model::kPayloadBytesMax, "a payload fits");
  DemandText(task.content_type, model::kContentTypeBytesMax);
  DemandHeaders(task.headers);
  DemandText(task.key, model::kKeyBytesMax);
  DemandText(task.cron, model::kCronBytesMax);
  DemandText(task.time_zone, model::kTimeZoneBytesMax);
  DemandText(task.stage, model::kStageNameBytesMax);
  DemandNumber(task.max_attempts, 0, model::kMaxAttemptsMax);
  Demand(task.version >= 0, "a version is not negative");
  Demand(!(task.delay && task.schedule_time), "a task has one start");
  Demand(!task.period || task.cron.empty(), "a task has one schedule");
  Demand(task.key_policy != model::KeyPolicy::kSchedule || task.IsPeriodic(),
         "a declared schedule is one");
  if (task.delay) DemandDuration(*task.delay, absl::ZeroDuration(), model::kStartAheadMax);
  if (task.period) DemandDuration(*task.period, model::kPeriodMin, model::kPeriodMax);
  if (task.schedule_time) {
    Demand(*task.schedule_time > absl::FromUnixSeconds(-62135596801) &&
               *task.schedule_time < absl::Now() + model::kStartAheadMax + absl::Minutes(1),
           "a schedule time is one of a calendar, and not too late");
  }
}

void ObeysEnqueue(broker::EnqueueCall& call) {
  DemandNumber(static_cast<int64_t>(call.tasks.size()), 1, model::kTasksPerCallMax);
  DemandText(call.request_id, model::kRequestIdBytesMax);
  if (!call.queue.empty()) DemandQueueName(call.queue);
  for (const model::NewTask& task : call.tasks) {
    DemandNewTask(task);
    Demand(!task.queue.empty() || !call.queue.empty(), "a task has a queue");
    Demand(task.queue.empty() || call.has_several_queues, "a task of the call's queue names none");
    if (!task.queue.empty()) DemandQueueName(task.queue);
  }
}

void ObeysLease(broker::LeaseCall& call) {
  DemandNumber(static_cast<int64_t>(call.queues.size()), 1, model::kQueuesPerLeaseMax);
  for (const broker::LeaseQueue& queue : call.queues) {
    DemandQueueName(queue.name);
    DemandNumber(queue.weight, 1, model::kQueueWeightMax);
    DemandText(queue.stage, model::kStageNameBytesMax);
    DemandNumber(queue.max_tasks, 0, model::kTasksPerCallMax);
  }
  DemandText(call.worker_id, model::kWorkerIdBytesMax);
  DemandText(call.worker_name, model::kWorkerNameBytesMax);
  DemandText(call.client_version, 64);
  DemandNumber(call.concurrency, 0, 100'000);
  DemandText(call.request_id, model::kRequestIdBytesMax);
  DemandNumber(call.max_tasks, 1, model::kTasksPerCallMax);
  DemandNumber(call.max_bytes, 1, model::kLeaseBytesMax);
  DemandDuration(call.wait, absl::ZeroDuration(), model::kWaitMax);
  if (call.lease_duration) {
    DemandDuration(*call.lease_duration, model::kLeaseDurationMin, model::kLeaseDurationMax);
  }
}

// Of an item that is refused nothing is used but its token.
void DemandItem(const model::AckItem& item) {
  if (!item.refusal.ok()) DemandRefusal(item.refusal);
  if (!item.refusal.ok() || item.continuation == nullptr) return;
  const model::AckContinuation& then = *item.continuation;
  DemandText(then.next_stage, model::kStageNameBytesMax);
  Demand(then.result.size() <= model::kResultBytesMax, "a result fits");
  DemandNumber(static_cast<int64_t>(then.follow_ups.size()), 0, model::kFollowUpsPerItemMax);
  for (const model::NewTask& task : then.follow_ups) {
    DemandNewTask(task);
    DemandQueueName(task.queue);
  }
  if (!then.next_content) return;
  Demand(then.next_content->payload.size() <= model::kPayloadBytesMax, "a payload fits");
  DemandText(then.next_content->content_type, model::kContentTypeBytesMax);
  DemandHeaders(then.next_content->headers);
}

void DemandItem(const model::NackItem& item) {
  if (!item.refusal.ok()) DemandRefusal(item.refusal);
  DemandText(item.error.type, model::kErrorTypeBytesMax);
  DemandText(item.error.fingerprint, model::kErrorTypeBytesMax);
  Demand(item.error.text.size() <= model::kErrorTextBytesMax, "an error's text fits");
  if (!item.retry_delay) return;
  DemandDuration(*item.retry_delay, absl::ZeroDuration(), model::kRetryDelayMax);
  Demand(item.disposition == model::NackDisposition::kRetry, "only a retry is delayed");
}

void ObeysSettle(rpc::SettleCall& call) {
  DemandNumber(static_cast<int64_t>(call.items.size()), 1, model::kTasksPerCallMax);
  Demand(call.paths.empty() || call.paths.size() == call.items.size(), "each item has a path");
  for (const model::SettleItem& item : call.items) {
    std::visit([](const auto& either) { DemandItem(either); }, item);
  }
  if (call.lease.has_value()) ObeysLease(*call.lease);
}

void ObeysHeartbeat(broker::HeartbeatCall& call) {
  Demand(!call.worker_id.empty(), "a heartbeat is a worker's");
  DemandText(call.worker_id, model::kWorkerIdBytesMax);
  if (call.lease_duration != absl::ZeroDuration()) {
    DemandDuration(call.lease_duration, model::kLeaseDurationMin, model::kLeaseDurationMax);
  }
  DemandNumber(static_cast<int64_t>(call.leases.size()), 0, model::kTasksPerCallMax);
  for (const model::HeldLease& held : call.leases) {
    if (!held.progress) continue;
    Demand(held.progress->fraction >= 0 && held.progress->fraction <= 1, "a fraction is one");
    DemandText(held.progress->message, model::kProgressMessageBytesMax);
  }
}

void ReadBrokerRequest(absl::string_view bytes) {
  switch (TakeChoice(&bytes, 6)) {
    case 0: return ReadRequest(bytes, &rpc::ReadEnqueue, &ObeysEnqueue);
    case 1: return ReadRequest(bytes, &rpc::ReadLease, &ObeysLease);
    case 2: return ReadRequest(bytes, &rpc::ReadAck, &ObeysSettle);
    case 3: return ReadRequest(bytes, &rpc::ReadNack, &ObeysSettle);
    case 4: return ReadRequest(bytes, &rpc::ReadSettle, &ObeysSettle);
    default: return ReadRequest(bytes, &rpc::ReadHeartbeat, &ObeysHeartbeat);
  }
}

const Target kBrokerRequest("broker_request", &ReadBrokerRequest);

}  // namespace
}  // namespace skiplane::fuzz
