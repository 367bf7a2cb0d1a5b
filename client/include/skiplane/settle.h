// How attempts end, one by one, and what became of them: plain values, for Client::Ack, Nack and
// Settle.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "skiplane/ack.h"
#include "skiplane/new_task.h"
#include "skiplane/task.h"

namespace skiplane {

// What to do with a task whose attempt did not succeed.
enum class Disposition {
  kRetry,    // run again after the queue's retry delay, or after retry_delay
  kRelease,  // return it to its original position; not a failure, and not charged
  kFail,     // FAILED now, even if attempts are left
};

struct NackItem {
  std::string lease_token{};
  Disposition disposition = Disposition::kRetry;
  // With kRetry only. 0 to 24 h.
  std::optional<absl::Duration> retry_delay{};
  TaskError error{};
};

using SettleItem = std::variant<AckItem, NackItem>;

struct SettleResult {
  SettleOutcome outcome = SettleOutcome::kSettled;
  // The task's state after kSettled.
  TaskState state = TaskState::kUnknown;
  // After kSettled, the stage that the task moved to; empty when it did not move.
  std::string stage{};
  // After kSettled, when it runs again; unset when it does not.
  std::optional<absl::Time> schedule_time{};
  // After kSettled, one per follow-up of an ack, in order.
  std::vector<EnqueueResult> follow_ups{};
  // With kRefused: why, with the reason and the field at fault (error.h).
  absl::Status refusal{};
};

}  // namespace skiplane
