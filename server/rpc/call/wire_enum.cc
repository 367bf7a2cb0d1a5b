#include "server/rpc/call/wire_enum.h"

#include <cstddef>

#include "absl/strings/string_view.h"

namespace skiplane::rpc {
namespace {

template <typename Ours, typename Wire>
struct Pair {
  Ours ours;
  Wire wire;
};

constexpr Pair<model::AttemptOutcome, v1::AttemptOutcome> kAttemptOutcomes[] = {
    {model::AttemptOutcome::kSucceeded, v1::ATTEMPT_OUTCOME_SUCCEEDED},
    {model::AttemptOutcome::kRetried, v1::ATTEMPT_OUTCOME_RETRIED},
    {model::AttemptOutcome::kFailed, v1::ATTEMPT_OUTCOME_FAILED},
    {model::AttemptOutcome::kLost, v1::ATTEMPT_OUTCOME_LOST},
    {model::AttemptOutcome::kCancelled, v1::ATTEMPT_OUTCOME_CANCELLED},
    {model::AttemptOutcome::kHanged, v1::ATTEMPT_OUTCOME_HANGED},
};

constexpr Pair<model::BulkOperationState, v1::BulkOperationState> kBulkStates[] = {
    {model::BulkOperationState::kRunning, v1::BULK_OPERATION_STATE_RUNNING},
    {model::BulkOperationState::kDone, v1::BULK_OPERATION_STATE_DONE},
    {model::BulkOperationState::kStopped, v1::BULK_OPERATION_STATE_STOPPED},
};

constexpr Pair<model::EnqueueOutcome, v1::EnqueueOutcome> kEnqueueOutcomes[] = {
    {model::EnqueueOutcome::kCreated, v1::ENQUEUE_OUTCOME_CREATED},
    {model::EnqueueOutcome::kExisting, v1::ENQUEUE_OUTCOME_EXISTING},
    {model::EnqueueOutcome::kReplaced, v1::ENQUEUE_OUTCOME_REPLACED},
    {model::EnqueueOutcome::kRestarted, v1::ENQUEUE_OUTCOME_RESTARTED},
    {model::EnqueueOutcome::kRerun, v1::ENQUEUE_OUTCOME_RERUN},
};

constexpr Pair<model::HistoryPolicy, v1::HistoryPolicy> kHistoryPolicies[] = {
    {model::HistoryPolicy::kAll, v1::HISTORY_POLICY_ALL},
    {model::HistoryPolicy::kFailures, v1::HISTORY_POLICY_FAILURES},
    {model::HistoryPolicy::kNone, v1::HISTORY_POLICY_NONE},
};

constexpr Pair<model::KeyPolicy, v1::KeyPolicy> kKeyPolicies[] = {
    {model::KeyPolicy::kKeep, v1::KEY_POLICY_KEEP},
    {model::KeyPolicy::kKeepUnfinished, v1::KEY_POLICY_KEEP_UNFINISHED},
    {model::KeyPolicy::kRerunIfNewer, v1::KEY_POLICY_RERUN_IF_NEWER},
    {model::KeyPolicy::kReplaceWaiting, v1::KEY_POLICY_REPLACE_WAITING},
    {model::KeyPolicy::kReject, v1::KEY_POLICY_REJECT},
    {model::KeyPolicy::kSchedule, v1::KEY_POLICY_SCHEDULE},
};

constexpr Pair<model::LeaseState, v1::LeaseState> kLeaseStates[] = {
    {model::LeaseState::kHeld, v1::LEASE_STATE_HELD},
    {model::LeaseState::kLost, v1::LEASE_STATE_LOST},
    {model::LeaseState::kCancelRequested, v1::LEASE_STATE_CANCEL_REQUESTED},
};

constexpr Pair<model::NackDisposition, v1::NackDisposition> kNackDispositions[] = {
    {model::NackDisposition::kRetry, v1::NACK_DISPOSITION_RETRY},
    {model::NackDisposition::kRelease, v1::NACK_DISPOSITION_RELEASE},
    {model::NackDisposition::kFail, v1::NACK_DISPOSITION_FAIL},
};

constexpr Pair<model::Packing, v1::Packing> kPackings[] = {
    {model::Packing::kOff, v1::PACKING_OFF},
    {model::Packing::kAutomatic, v1::PACKING_AUTOMATIC},
};

constexpr Pair<model::PauseMode, v1::PauseMode> kPauseModes[] = {
    {model::PauseMode::kLease, v1::PAUSE_MODE_LEASE},
    {model::PauseMode::kEnqueue, v1::PAUSE_MODE_ENQUEUE},
    {model::PauseMode::kBoth, v1::PAUSE_MODE_BOTH},
    {model::PauseMode::kNone, v1::PAUSE_MODE_NONE},
};

constexpr Pair<model::RetryKind, v1::RetryKind> kRetryKinds[] = {
    {model::RetryKind::kLinear, v1::RETRY_KIND_LINEAR},
    {model::RetryKind::kFixed, v1::RETRY_KIND_FIXED},
    {model::RetryKind::kExponential, v1::RETRY_KIND_EXPONENTIAL},
    {model::RetryKind::kTable, v1::RETRY_KIND_TABLE},
};

constexpr Pair<model::SettleOutcome, v1::SettleOutcome> kSettleOutcomes[] = {
    {model::SettleOutcome::kSettled, v1::SETTLE_OUTCOME_SETTLED},
    {model::SettleOutcome::kAlreadySettled, v1::SETTLE_OUTCOME_ALREADY_SETTLED},
    {model::SettleOutcome::kLeaseLost, v1::SETTLE_OUTCOME_LEASE_LOST},
    {model::SettleOutcome::kNotFound, v1::SETTLE_OUTCOME_NOT_FOUND},
    {model::SettleOutcome::kRefused, v1::SETTLE_OUTCOME_REFUSED},
};

constexpr Pair<model::TaskState, v1::TaskState> kTaskStates[] = {
    {model::TaskState::kScheduled, v1::TASK_STATE_SCHEDULED},
    {model::TaskState::kReady, v1::TASK_STATE_READY},
    {model::TaskState::kLeased, v1::TASK_STATE_LEASED},
    {model::TaskState::kSucceeded, v1::TASK_STATE_SUCCEEDED},
    {model::TaskState::kFailed, v1::TASK_STATE_FAILED},
    {model::TaskState::kCancelled, v1::TASK_STATE_CANCELLED},
};

constexpr Pair<broker::WaitReason, v1::WaitReason> kWaitReasons[] = {
    {broker::WaitReason::kNone, v1::WAIT_REASON_NONE},
    {broker::WaitReason::kRunning, v1::WAIT_REASON_RUNNING},
    {broker::WaitReason::kEnded, v1::WAIT_REASON_FINISHED},
    {broker::WaitReason::kScheduled, v1::WAIT_REASON_SCHEDULED},
    {broker::WaitReason::kRetry, v1::WAIT_REASON_RETRY},
    {broker::WaitReason::kTaskPaused, v1::WAIT_REASON_TASK_PAUSED},
    {broker::WaitReason::kQueuePaused, v1::WAIT_REASON_QUEUE_PAUSED},
    {broker::WaitReason::kBehindOthers, v1::WAIT_REASON_BEHIND_OTHERS},
    {broker::WaitReason::kNoWorker, v1::WAIT_REASON_NO_WORKER},
    {broker::WaitReason::kWorkersBusy, v1::WAIT_REASON_WORKERS_BUSY},
};

constexpr Pair<model::WorkerCommand, v1::WorkerCommand> kWorkerCommands[] = {
    {model::WorkerCommand::kRun, v1::WORKER_COMMAND_RUN},
    {model::WorkerCommand::kQuiet, v1::WORKER_COMMAND_QUIET},
    {model::WorkerCommand::kStop, v1::WORKER_COMMAND_STOP},
};

// The first of two is the default.
constexpr Pair<bool, v1::CatchUp> kCatchUps[] = {{false, v1::CATCH_UP_SKIP_MISSED},
                                                 {true, v1::CATCH_UP_RUN_ALL}};
constexpr Pair<bool, v1::ListOrder> kListOrders[] = {{false, v1::LIST_ORDER_OLDEST_FIRST},
                                                     {true, v1::LIST_ORDER_NEWEST_FIRST}};
constexpr Pair<bool, v1::QueueOrder> kQueueOrders[] = {{false, v1::QUEUE_ORDER_WEIGHTED},
                                                       {true, v1::QUEUE_ORDER_STRICT}};
constexpr Pair<bool, v1::TaskView> kTaskViews[] = {{false, v1::TASK_VIEW_BASIC},
                                                   {true, v1::TASK_VIEW_FULL}};

// UNSPECIFIED of every enum.
template <typename Wire>
constexpr Wire kUnspecified = static_cast<Wire>(0);

template <typename Ours, typename Wire, size_t n>
Wire Find(const Pair<Ours, Wire> (&table)[n], Ours ours) {
  for (const auto& pair : table) {
    if (pair.ours == ours) return pair.wire;
  }
  return kUnspecified<Wire>;
}

template <typename Ours, typename Wire, size_t n>
ReadValue<Ours> Read(const Pair<Ours, Wire> (&table)[n], Wire wire, const Field& field,
                     absl::string_view what_it_must_be) {
  if (wire == kUnspecified<Wire>) return std::nullopt;
  for (const auto& pair : table) {
    if (pair.wire == wire) return pair.ours;
  }
  return InvalidField(field, what_it_must_be);
}

template <typename Wire, size_t n>
absl::StatusOr<bool> ReadOne(const Pair<bool, Wire> (&table)[n], Wire wire, const Field& field,
                             absl::string_view what_it_must_be) {
  const ReadValue<bool> value = Read(table, wire, field, what_it_must_be);
  if (!value.ok()) return value.status();
  return value->value_or(false);
}

}  // namespace

v1::AttemptOutcome ToWire(model::AttemptOutcome outcome) { return Find(kAttemptOutcomes, outcome); }
v1::BulkOperationState ToWire(model::BulkOperationState state) { return Find(kBulkStates, state); }
v1::EnqueueOutcome ToWire(model::EnqueueOutcome outcome) { return Find(kEnqueueOutcomes, outcome); }
v1::HistoryPolicy ToWire(model::HistoryPolicy policy) { return Find(kHistoryPolicies, policy); }
v1::LeaseState ToWire(model::LeaseState state) { return Find(kLeaseStates, state); }
v1::Packing ToWire(model::Packing packing) { return Find(kPackings, packing); }
v1::PauseMode ToWire(model::PauseMode mode) { return Find(kPauseModes, mode); }
v1::RetryKind ToWire(model::RetryKind kind) { return Find(kRetryKinds, kind); }
v1::SettleOutcome ToWire(model::SettleOutcome outcome) { return Find(kSettleOutcomes, outcome); }
v1::TaskState ToWire(model::TaskState state) { return Find(kTaskStates, state); }
v1::WaitReason ToWire(broker::WaitReason reason) { return Find(kWaitReasons, reason); }
v1::WorkerCommand ToWire(model::WorkerCommand command) { return Find(kWorkerCommands, command); }

ReadValue<model::AttemptOutcome> ReadEnum(v1::AttemptOutcome wire, const Field& field) {
  return Read(kAttemptOutcomes, wire, field, "must be an outcome of attempts");
}

ReadValue<model::HistoryPolicy> ReadEnum(v1::HistoryPolicy wire, const Field& field) {
  return Read(kHistoryPolicies, wire, field, "must be ALL, FAILURES or NONE");
}

ReadValue<model::KeyPolicy> ReadEnum(v1::KeyPolicy wire, const Field& field) {
  return Read(kKeyPolicies, wire, field,
              "must be KEEP, KEEP_UNFINISHED, RERUN_IF_NEWER, REPLACE_WAITING, REJECT or "
              "SCHEDULE");
}

ReadValue<model::NackDisposition> ReadEnum(v1::NackDisposition wire, const Field& field) {
  return Read(kNackDispositions, wire, field, "must be RETRY, RELEASE or FAIL");
}

ReadValue<model::Packing> ReadEnum(v1::Packing wire, const Field& field) {
  return Read(kPackings, wire, field, "must be OFF or AUTOMATIC");
}

ReadValue<model::PauseMode> ReadEnum(v1::PauseMode wire, const Field& field) {
  constexpr absl::string_view kWhatItMustBe =
      "must be LEASE, ENQUEUE or BOTH: ResumeQueue ends a pause";
  if (wire == v1::PAUSE_MODE_NONE) return InvalidField(field, kWhatItMustBe);
  return Read(kPauseModes, wire, field, kWhatItMustBe);
}

ReadValue<model::RetryKind> ReadEnum(v1::RetryKind wire, const Field& field) {
  return Read(kRetryKinds, wire, field, "must be LINEAR, FIXED, EXPONENTIAL or TABLE");
}

ReadValue<model::WorkerCommand> ReadEnum(v1::WorkerCommand wire, const Field& field) {
  return Read(kWorkerCommands, wire, field, "must be RUN, QUIET or STOP");
}

absl::StatusOr<model::TaskState> ReadEnum(v1::TaskState wire, const Field& field) {
  constexpr absl::string_view kWhatItMustBe = "must be a state of a task";
  const ReadValue<model::TaskState> state = Read(kTaskStates, wire, field, kWhatItMustBe);
  if (!state.ok()) return state.status();
  if (!state->has_value()) return InvalidField(field, kWhatItMustBe);
  return **state;
}

absl::StatusOr<bool> ReadEnum(v1::CatchUp wire, const Field& field) {
  return ReadOne(kCatchUps, wire, field, "must be SKIP_MISSED or RUN_ALL");
}

absl::StatusOr<bool> ReadEnum(v1::ListOrder wire, const Field& field) {
  return ReadOne(kListOrders, wire, field, "must be OLDEST_FIRST or NEWEST_FIRST");
}

absl::StatusOr<bool> ReadEnum(v1::QueueOrder wire, const Field& field) {
  return ReadOne(kQueueOrders, wire, field, "must be WEIGHTED or STRICT");
}

absl::StatusOr<bool> ReadEnum(v1::TaskView wire, const Field& field) {
  return ReadOne(kTaskViews, wire, field, "must be BASIC or FULL");
}

}  // namespace skiplane::rpc
