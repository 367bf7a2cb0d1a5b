#include "client/src/testing/queue_table.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "client/src/testing/checks.h"

namespace skiplane::internal {
namespace {

constexpr size_t kNameBytesMax = 128;

auto PartsOf(const RetryPolicy& retry) {
  return std::tie(retry.kind, retry.base_delay, retry.factor, retry.max_delay, retry.delays,
                  retry.jitter, retry.max_attempts);
}

bool IsSame(const std::optional<RetryPolicy>& a, const std::optional<RetryPolicy>& b) {
  return a.has_value() == b.has_value() && (!a || PartsOf(*a) == PartsOf(*b));
}

bool IsSame(const Stage& a, const Stage& b) {
  return a.name == b.name && IsSame(a.retry, b.retry) && a.lease_duration == b.lease_duration &&
         a.max_run_duration == b.max_run_duration;
}

bool IsSame(const QueueSettings& a, const QueueSettings& b) {
  const auto parts = [](const QueueSettings& settings) {
    return std::tie(settings.history, settings.periodic_history, settings.lease_duration,
                    settings.max_payload_bytes, settings.max_run_duration, settings.history_days,
                    settings.failed_days, settings.keep_payloads, settings.keep_results,
                    settings.packing, settings.max_depth, settings.max_bytes,
                    settings.max_enqueue_rate);
  };
  const auto is_same_stage = [](const Stage& x, const Stage& y) { return IsSame(x, y); };
  return PartsOf(a.retry) == PartsOf(b.retry) && parts(a) == parts(b) &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    is_same_stage);
}

absl::Status NotFound(absl::string_view name, absl::string_view field) {
  return Refuse(absl::StatusCode::kNotFound, "QUEUE_NOT_FOUND",
                absl::StrCat("there is no queue ", name), field);
}

}  // namespace

absl::StatusOr<Queue*> QueueTable::Find(absl::string_view name, absl::Time now,
                                        absl::string_view field) {
  const auto found = queues_.find(name);
  if (found != queues_.end()) return &found->second;
  if (const absl::Status status = CheckName(name, kNameBytesMax, field); !status.ok()) {
    return status;
  }
  if (!creates_) return NotFound(name, field);
  if (const auto made = Create(name, now); !made.ok()) return made.status();
  return &queues_.find(name)->second;
}

absl::StatusOr<Queue> QueueTable::Create(absl::string_view name, absl::Time now) {
  const auto found = queues_.find(name);
  return found != queues_.end() ? found->second : Create(name, {}, 1, now);
}

absl::StatusOr<Queue> QueueTable::Create(absl::string_view name, const QueueSettings& settings,
                                         int lane_count, absl::Time now) {
  absl::Status status = CheckName(name, kNameBytesMax, "name");
  if (status.ok()) status = CheckSettings(settings);
  if (status.ok() && (lane_count < 1 || lane_count > 64)) {
    status = InvalidField("lane_count", "must be 1 to 64");
  }
  if (!status.ok()) return status;
  const auto found = queues_.find(name);
  if (found == queues_.end()) {
    Queue queue{.name = std::string(name), .settings = settings, .lane_count = lane_count,
                .create_time = now, .update_time = now, .etag = absl::StrCat(++changes_)};
    return queues_.emplace(queue.name, queue).first->second;
  }
  if (found->second.lane_count == lane_count && IsSame(found->second.settings, settings)) {
    return found->second;
  }
  return Refuse(absl::StatusCode::kAlreadyExists, "QUEUE_EXISTS",
                absl::StrCat("the queue ", name, " exists with other settings"));
}

absl::StatusOr<Queue*> QueueTable::Get(absl::string_view name) {
  const auto found = queues_.find(name);
  if (found == queues_.end()) return NotFound(name, "name");
  return &found->second;
}

std::vector<Queue> QueueTable::List() const {
  std::vector<Queue> all;
  for (const auto& [name, queue] : queues_) all.push_back(queue);
  return all;
}

absl::StatusOr<Queue> QueueTable::Update(absl::string_view name, const QueueSettings& settings,
                                         absl::string_view etag, absl::Time now) {
  const absl::StatusOr<Queue*> queue = Get(name);
  if (!queue.ok()) return queue.status();
  if (const absl::Status status = CheckSettings(settings); !status.ok()) return status;
  if (settings.stages.size() < (*queue)->settings.stages.size()) {
    return InvalidField("settings.stages", "may not lose a stage");
  }
  if (!etag.empty() && etag != (*queue)->etag) {
    return Refuse(absl::StatusCode::kAborted, "ETAG_MISMATCH",
                  absl::StrCat("the queue ", name, " was changed meanwhile"));
  }
  (*queue)->settings = settings;
  (*queue)->update_time = now;
  (*queue)->etag = absl::StrCat(++changes_);
  return **queue;
}

absl::StatusOr<Queue> QueueTable::SetPause(absl::string_view name, PauseMode mode,
                                           absl::string_view reason, absl::Time now) {
  const absl::StatusOr<Queue*> queue = Get(name);
  if (!queue.ok()) return queue.status();
  (*queue)->pause_mode = mode;
  (*queue)->pause_reason = std::string(reason);
  (*queue)->update_time = now;
  (*queue)->etag = absl::StrCat(++changes_);
  return **queue;
}

bool StopsLease(const Queue& queue) {
  return queue.pause_mode == PauseMode::kLease || queue.pause_mode == PauseMode::kBoth;
}

bool StopsEnqueue(const Queue& queue) {
  return queue.pause_mode == PauseMode::kEnqueue || queue.pause_mode == PauseMode::kBoth;
}

}  // namespace skiplane::internal
