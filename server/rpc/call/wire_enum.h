// Enums on the wire and ours: which value stands for which. One table per enum, in the source.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "server/model/lease.h"
#include "server/model/queue.h"
#include "server/model/report.h"
#include "server/model/retry.h"
#include "server/model/task.h"
#include "server/rpc/call/field.h"
#include "skiplane/v1/admin.pb.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

// The value on the wire; UNSPECIFIED for one that it has no name for.
v1::AttemptOutcome ToWire(model::AttemptOutcome outcome);
v1::BulkOperationState ToWire(model::BulkOperationState state);
v1::EnqueueOutcome ToWire(model::EnqueueOutcome outcome);
v1::HistoryPolicy ToWire(model::HistoryPolicy policy);
v1::LeaseState ToWire(model::LeaseState state);
v1::Packing ToWire(model::Packing packing);
v1::PauseMode ToWire(model::PauseMode mode);
v1::RetryKind ToWire(model::RetryKind kind);
v1::SettleOutcome ToWire(model::SettleOutcome outcome);
v1::TaskState ToWire(model::TaskState state);
v1::WaitReason ToWire(broker::WaitReason reason);
v1::WorkerCommand ToWire(model::WorkerCommand command);

// The value that the caller sent; nothing if it is UNSPECIFIED. INVALID_FIELD for a value that this
// version does not know.
template <typename Ours>
using ReadValue = absl::StatusOr<std::optional<Ours>>;
ReadValue<model::AttemptOutcome> ReadEnum(v1::AttemptOutcome wire, const Field& field);
ReadValue<model::HistoryPolicy> ReadEnum(v1::HistoryPolicy wire, const Field& field);
ReadValue<model::KeyPolicy> ReadEnum(v1::KeyPolicy wire, const Field& field);
ReadValue<model::NackDisposition> ReadEnum(v1::NackDisposition wire, const Field& field);
ReadValue<model::Packing> ReadEnum(v1::Packing wire, const Field& field);
// NONE is refused.
ReadValue<model::PauseMode> ReadEnum(v1::PauseMode wire, const Field& field);
ReadValue<model::RetryKind> ReadEnum(v1::RetryKind wire, const Field& field);
ReadValue<model::WorkerCommand> ReadEnum(v1::WorkerCommand wire, const Field& field);

// As an element of a list, which is never UNSPECIFIED.
absl::StatusOr<model::TaskState> ReadEnum(v1::TaskState wire, const Field& field);

// Enums of two values: whether it is the one that is not the default: RUN_ALL, NEWEST_FIRST, STRICT
// or FULL.
absl::StatusOr<bool> ReadEnum(v1::CatchUp wire, const Field& field);
absl::StatusOr<bool> ReadEnum(v1::ListOrder wire, const Field& field);
absl::StatusOr<bool> ReadEnum(v1::QueueOrder wire, const Field& field);
absl::StatusOr<bool> ReadEnum(v1::TaskView wire, const Field& field);

}  // namespace skiplane::rpc
