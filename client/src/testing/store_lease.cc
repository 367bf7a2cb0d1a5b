// The half of MemoryStore that gives tasks out and settles them.
#include <algorithm>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/src/testing/checks.h"
#include "client/src/testing/memory_store.h"
#include "client/src/testing/transitions.h"
#include "client/src/testing/utf8.h"

namespace skiplane::internal {
namespace {

constexpr size_t kItemsPerCall = 1000;
constexpr size_t kFollowUpsPerAck = 100;

const std::string& TokenOf(const SettleItem& item) {
  return std::visit([](const auto& of) -> const std::string& { return of.lease_token; }, item);
}

absl::string_view KindOf(const SettleItem& item) {
  const NackItem* const nack = std::get_if<NackItem>(&item);
  if (nack == nullptr) return "ack";
  return nack->disposition == Disposition::kRelease ? "release" : "nack";
}

bool IsOf(const LeaseQueue& queue, const MemoryTask& task, const QueueSettings& settings) {
  return task.queue == queue.name &&
         (queue.stage.empty() || queue.stage == StageOf(task, settings));
}

bool IsMoreUrgent(const MemoryTask& a, const MemoryTask& b) {
  const auto rank = [](const MemoryTask& task) {
    return std::make_tuple(-static_cast<int64_t>(task.stage), task.content.priority,
                           task.schedule_time, task.number);
  };
  return rank(a) < rank(b);
}

}  // namespace

MemoryTask* MemoryStore::NextReady(const std::vector<LeaseQueue>& queues,
                                   const std::set<int64_t>& but) {
  for (const LeaseQueue& queue : queues) {
    MemoryTask* best = nullptr;
    for (auto& [number, task] : tasks_) {
      if (StateOf(task, now_) != TaskState::kReady || but.contains(number) ||
          !IsOf(queue, task, SettingsOf(task)) || StopsLease(queues_.At(task.queue))) {
        continue;
      }
      if (best == nullptr || IsMoreUrgent(task, *best)) best = &task;
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

LeasedTask MemoryStore::LeaseTo(MemoryTask& task, const std::string& worker_id,
                                const std::string& worker_name, absl::Time end) {
  internal::Lease(task, now_);
  task.worker_id = worker_id;
  task.worker_name = worker_name;
  task.lease_end = end;
  return LeasedOf(task, SettingsOf(task));
}

absl::Status MemoryStore::CheckLease(const LeaseCall& call) {
  if (!IsUtf8(call)) return NotUtf8();
  if (call.queues.empty() || call.queues.size() > 64) {
    return InvalidField("queues", "must have 1 to 64 items");
  }
  if (call.max_tasks < 1 || call.max_tasks > 1000) {
    return InvalidField("max_tasks", "must be 1 to 1000");
  }
  for (size_t i = 0; i < call.queues.size(); ++i) {
    const std::string field = absl::StrCat("queues[", i, "].name");
    const auto queue = queues_.Find(call.queues[i].name, now_, field);
    if (!queue.ok()) return queue.status();
    const std::string stage = absl::StrCat("queues[", i, "].stage");
    if (absl::Status status = CheckText(call.queues[i].stage, 64, stage); !status.ok()) {
      return status;
    }
  }
  absl::Status status = CheckText(call.worker_id, 128, "worker_id");
  if (status.ok()) status = CheckText(call.worker_name, 255, "worker_name");
  if (status.ok()) status = CheckText(call.client_version, 64, "client_version");
  if (status.ok()) status = CheckText(call.request_id, 128, "request_id");
  return status;
}

LeaseAnswer MemoryStore::Lease(const LeaseCall& call) {
  LeaseAnswer answer;
  for (const LeaseQueue& asked : call.queues) {
    if (StopsLease(queues_.At(asked.name))) answer.paused_queues.push_back(asked.name);
  }
  const absl::Duration duration = call.lease_duration.value_or(
      queues_.At(call.queues.front().name).settings.lease_duration);
  while (static_cast<int>(answer.tasks.size()) < call.max_tasks) {
    MemoryTask* const task = NextReady(call.queues);
    if (task == nullptr) break;
    answer.lease_remaining = duration;
    answer.tasks.push_back(LeaseTo(*task, call.worker_id, call.worker_name, now_ + duration));
  }
  return answer;
}

absl::StatusOr<int64_t> MemoryStore::NumberOf(absl::string_view token,
                                              const std::string& field) const {
  const std::vector<absl::string_view> parts = absl::StrSplit(token, '-');
  int64_t number = 0;
  int64_t lease = 0;
  if (parts.size() == 3 && parts[0] == "lease" && absl::SimpleAtoi(parts[1], &number) &&
      absl::SimpleAtoi(parts[2], &lease)) {
    const auto task = tasks_.find(number);
    if (task != tasks_.end() && lease >= 1 && lease <= task->second.lease_number) return number;
  }
  return Refuse(absl::StatusCode::kInvalidArgument, "INVALID_LEASE_TOKEN",
                absl::StrCat(field, " is no lease token of this broker"), field);
}

MemoryTask* MemoryStore::Leased(absl::string_view token) {
  const absl::StatusOr<int64_t> number = NumberOf(token, "lease_token");
  if (!number.ok()) return nullptr;
  MemoryTask& task = tasks_.at(*number);
  return task.phase == Phase::kLeased && internal::TokenOf(task) == token ? &task : nullptr;
}

absl::StatusOr<std::vector<SettleResult>> MemoryStore::Settle(
    const std::vector<SettleItem>& items) {
  if (items.empty() || items.size() > kItemsPerCall) {
    return InvalidField("items", "must have 1 to 1000 items");
  }
  if (!std::all_of(items.begin(), items.end(),
                   [](const SettleItem& item) { return IsUtf8(item); })) {
    return NotUtf8();
  }
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < items.size(); ++i) {
    const absl::StatusOr<int64_t> number =
        NumberOf(TokenOf(items[i]), absl::StrCat("items[", i, "].", KindOf(items[i]),
                                                 ".lease_token"));
    if (!number.ok()) return number.status();
    numbers.push_back(*number);
  }
  std::vector<SettleResult> results;
  for (size_t i = 0; i < items.size(); ++i) results.push_back(SettleOne(items[i], numbers[i]));
  return results;
}

SettleResult MemoryStore::SettleOne(const SettleItem& item, int64_t number) {
  const std::string& token = TokenOf(item);
  const AckItem* const ack = std::get_if<AckItem>(&item);
  const bool is_ack = ack != nullptr;
  SettleResult result;
  if (Leased(token) == nullptr) {
    const auto settled = was_acked_.find(token);
    const bool is_same = settled != was_acked_.end() && settled->second == is_ack;
    result.outcome = is_same ? SettleOutcome::kAlreadySettled : SettleOutcome::kLeaseLost;
    return result;
  }
  MemoryTask& task = tasks_.at(number);
  if (is_ack) {
    result.refusal = CheckAck(task, *ack);
    if (!result.refusal.ok()) {
      result.outcome = SettleOutcome::kRefused;
      return result;
    }
    Ack(task, *ack, result);
  } else {
    Nack(task, std::get<NackItem>(item));
  }
  was_acked_[token] = is_ack;
  result.state = StateOf(task, now_);
  if (!task.HasEnded()) result.schedule_time = task.schedule_time;
  return result;
}

absl::Status MemoryStore::CheckAck(const MemoryTask& task, const AckItem& item) {
  const AckMore& more = item.more;
  const auto& stages = SettingsOf(task).stages;
  const bool has_stage = std::any_of(stages.begin(), stages.end(), [&](const Stage& stage) {
    return stage.name == more.next_stage;
  });
  if (!more.next_stage.empty() && more.finish) {
    return InvalidField("ack.next_stage", "must be unset with finish");
  }
  if (!more.next_stage.empty() && !has_stage) {
    return InvalidField("ack.next_stage", "is none of the queue");
  }
  if (more.next_payload) {
    absl::Status status = CheckContent(*more.next_payload, "ack.next_payload.");
    if (!status.ok()) return status;
  }
  if (item.result.size() > size_t{1} << 20) return InvalidField("ack.result", "is above 1 MiB");
  if (more.follow_ups.size() > kFollowUpsPerAck) {
    return InvalidField("ack.follow_ups", "has more than 100 items");
  }
  for (size_t i = 0; i < more.follow_ups.size(); ++i) {
    const std::string at = absl::StrCat("ack.follow_ups[", i, "].");
    const NewTask& follow_up = more.follow_ups[i];
    if (follow_up.key_policy != KeyPolicy::kKeep) {
      return InvalidField(at + "key_policy", "must be KEEP");
    }
    const absl::Status status = CheckNew(follow_up, at, at + "queue");
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void MemoryStore::Ack(MemoryTask& task, const AckItem& item, SettleResult& result) {
  const QueueSettings& settings = SettingsOf(task);
  const bool has_moved = EndAcked(task, item.more, settings, now_);
  task.result = item.result;
  if (has_moved) result.stage = StageOf(task, settings);
  for (const NewTask& follow_up : item.more.follow_ups) result.follow_ups.push_back(Put(follow_up));
}

void MemoryStore::Nack(MemoryTask& task, const NackItem& item) {
  const QueueSettings& settings = SettingsOf(task);
  switch (item.disposition) {
    case Disposition::kRetry:
      return EndRetried(task, item.error, item.retry_delay, settings, now_);
    case Disposition::kRelease: return EndReleased(task, settings, now_);
    case Disposition::kFail: break;
  }
  EndFailed(task, item.error, settings, now_);
}

HeartbeatAnswer MemoryStore::Heartbeat(const HeartbeatCall& call) {
  HeartbeatAnswer answer;
  for (const HeldLease& lease : call.leases) {
    MemoryTask* const task = Leased(lease.lease_token);
    const bool is_held = task != nullptr && task->worker_id == call.worker_id;
    if (is_held && lease.progress) task->progress = lease.progress;
    const LeaseState held =
        is_held && task->is_cancel_requested ? LeaseState::kCancelRequested : LeaseState::kHeld;
    answer.states.push_back(is_held ? held : LeaseState::kLost);
  }
  for (auto& [number, task] : tasks_) {
    if (task.phase != Phase::kLeased || call.worker_id.empty() ||
        task.worker_id != call.worker_id) {
      continue;
    }
    if (call.end_session) {
      was_acked_[internal::TokenOf(task)] = false;
      EndReleased(task, SettingsOf(task), now_);
      continue;
    }
    answer.session_alive = true;
    const absl::Duration duration = call.lease_duration.value_or(absl::Seconds(30));
    task.lease_end = std::max(task.lease_end, now_ + duration);
    answer.lease_remaining = task.lease_end - now_;
  }
  return answer;
}

}  // namespace skiplane::internal
