#include "client/src/convert_enum.h"

#include <cstddef>

namespace skiplane::internal {
namespace {

template <typename Ours, typename Proto>
struct Pair {
  Ours ours;
  Proto proto;
};

// The first pair of each table is what an unknown value becomes.
constexpr Pair<EnqueueOutcome, v1::EnqueueOutcome> kEnqueueOutcomes[] = {
    {EnqueueOutcome::kCreated, v1::ENQUEUE_OUTCOME_CREATED},
    {EnqueueOutcome::kExisting, v1::ENQUEUE_OUTCOME_EXISTING},
    {EnqueueOutcome::kReplaced, v1::ENQUEUE_OUTCOME_REPLACED},
    {EnqueueOutcome::kRestarted, v1::ENQUEUE_OUTCOME_RESTARTED},
    {EnqueueOutcome::kRerun, v1::ENQUEUE_OUTCOME_RERUN},
};

constexpr Pair<HistoryPolicy, v1::HistoryPolicy> kHistoryPolicies[] = {
    {HistoryPolicy::kAll, v1::HISTORY_POLICY_ALL},
    {HistoryPolicy::kFailures, v1::HISTORY_POLICY_FAILURES},
    {HistoryPolicy::kNone, v1::HISTORY_POLICY_NONE},
};

constexpr Pair<KeyPolicy, v1::KeyPolicy> kKeyPolicies[] = {
    {KeyPolicy::kKeep, v1::KEY_POLICY_UNSPECIFIED},
    {KeyPolicy::kKeepUnfinished, v1::KEY_POLICY_KEEP_UNFINISHED},
    {KeyPolicy::kRerunIfNewer, v1::KEY_POLICY_RERUN_IF_NEWER},
    {KeyPolicy::kReplaceWaiting, v1::KEY_POLICY_REPLACE_WAITING},
    {KeyPolicy::kReject, v1::KEY_POLICY_REJECT},
    {KeyPolicy::kSchedule, v1::KEY_POLICY_SCHEDULE},
};

// The first is also that of a broker that says nothing.
constexpr Pair<WorkerCommand, v1::WorkerCommand> kWorkerCommands[] = {
    {WorkerCommand::kRun, v1::WORKER_COMMAND_RUN},
    {WorkerCommand::kQuiet, v1::WORKER_COMMAND_QUIET},
    {WorkerCommand::kStop, v1::WORKER_COMMAND_STOP},
};

constexpr Pair<LeaseState, v1::LeaseState> kLeaseStates[] = {
    {LeaseState::kHeld, v1::LEASE_STATE_HELD},
    {LeaseState::kLost, v1::LEASE_STATE_LOST},
    {LeaseState::kCancelRequested, v1::LEASE_STATE_CANCEL_REQUESTED},
};

constexpr Pair<Disposition, v1::NackDisposition> kDispositions[] = {
    {Disposition::kRetry, v1::NACK_DISPOSITION_RETRY},
    {Disposition::kRelease, v1::NACK_DISPOSITION_RELEASE},
    {Disposition::kFail, v1::NACK_DISPOSITION_FAIL},
};

constexpr Pair<Packing, v1::Packing> kPackings[] = {
    {Packing::kAutomatic, v1::PACKING_AUTOMATIC},  // also what is unset, as by an older broker
    {Packing::kOff, v1::PACKING_OFF},
};

constexpr Pair<PauseMode, v1::PauseMode> kPauseModes[] = {
    {PauseMode::kNone, v1::PAUSE_MODE_NONE},
    {PauseMode::kLease, v1::PAUSE_MODE_LEASE},
    {PauseMode::kEnqueue, v1::PAUSE_MODE_ENQUEUE},
    {PauseMode::kBoth, v1::PAUSE_MODE_BOTH},
};

constexpr Pair<RetryKind, v1::RetryKind> kRetryKinds[] = {
    {RetryKind::kLinear, v1::RETRY_KIND_LINEAR},
    {RetryKind::kFixed, v1::RETRY_KIND_FIXED},
    {RetryKind::kExponential, v1::RETRY_KIND_EXPONENTIAL},
    {RetryKind::kTable, v1::RETRY_KIND_TABLE},
};

constexpr Pair<SettleOutcome, v1::SettleOutcome> kSettleOutcomes[] = {
    {SettleOutcome::kNotFound, v1::SETTLE_OUTCOME_NOT_FOUND},
    {SettleOutcome::kSettled, v1::SETTLE_OUTCOME_SETTLED},
    {SettleOutcome::kAlreadySettled, v1::SETTLE_OUTCOME_ALREADY_SETTLED},
    {SettleOutcome::kLeaseLost, v1::SETTLE_OUTCOME_LEASE_LOST},
    {SettleOutcome::kRefused, v1::SETTLE_OUTCOME_REFUSED},
};

constexpr Pair<TaskState, v1::TaskState> kTaskStates[] = {
    {TaskState::kUnknown, v1::TASK_STATE_UNSPECIFIED},
    {TaskState::kScheduled, v1::TASK_STATE_SCHEDULED},
    {TaskState::kReady, v1::TASK_STATE_READY},
    {TaskState::kLeased, v1::TASK_STATE_LEASED},
    {TaskState::kSucceeded, v1::TASK_STATE_SUCCEEDED},
    {TaskState::kFailed, v1::TASK_STATE_FAILED},
    {TaskState::kCancelled, v1::TASK_STATE_CANCELLED},
};

template <typename Ours, typename Proto, size_t n>
Proto Find(const Pair<Ours, Proto> (&table)[n], Ours ours) {
  for (const auto& pair : table) {
    if (pair.ours == ours) return pair.proto;
  }
  return table[0].proto;
}

template <typename Ours, typename Proto, size_t n>
Ours Find(const Pair<Ours, Proto> (&table)[n], Proto proto) {
  for (const auto& pair : table) {
    if (pair.proto == proto) return pair.ours;
  }
  return table[0].ours;
}

}  // namespace

v1::HistoryPolicy ToProto(HistoryPolicy policy) { return Find(kHistoryPolicies, policy); }
v1::KeyPolicy ToProto(KeyPolicy policy) { return Find(kKeyPolicies, policy); }
v1::NackDisposition ToProto(Disposition disposition) { return Find(kDispositions, disposition); }
v1::Packing ToProto(Packing packing) { return Find(kPackings, packing); }
v1::PauseMode ToProto(PauseMode mode) { return Find(kPauseModes, mode); }
v1::RetryKind ToProto(RetryKind kind) { return Find(kRetryKinds, kind); }

EnqueueOutcome FromProto(v1::EnqueueOutcome outcome) { return Find(kEnqueueOutcomes, outcome); }
HistoryPolicy FromProto(v1::HistoryPolicy policy) { return Find(kHistoryPolicies, policy); }
LeaseState FromProto(v1::LeaseState state) { return Find(kLeaseStates, state); }
WorkerCommand FromProto(v1::WorkerCommand command) { return Find(kWorkerCommands, command); }
Packing FromProto(v1::Packing packing) { return Find(kPackings, packing); }
PauseMode FromProto(v1::PauseMode mode) { return Find(kPauseModes, mode); }
RetryKind FromProto(v1::RetryKind kind) { return Find(kRetryKinds, kind); }
SettleOutcome FromProto(v1::SettleOutcome outcome) { return Find(kSettleOutcomes, outcome); }
TaskState FromProto(v1::TaskState state) { return Find(kTaskStates, state); }

}  // namespace skiplane::internal
