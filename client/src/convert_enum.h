// Between the enums of the public headers and those of the API: one table per enum, in the source.
// A value that this version does not know becomes kCreated, kAll, kHeld, kOff, kNone, kLinear,
// kNotFound, kUnknown or kRun.
#pragma once

#include "skiplane/calls.h"
#include "skiplane/new_task.h"
#include "skiplane/queue.h"
#include "skiplane/task.h"
#include "skiplane/v1/broker.pb.h"
#include "skiplane/v1/queue.pb.h"
#include "skiplane/v1/task.pb.h"

namespace skiplane::internal {

v1::HistoryPolicy ToProto(HistoryPolicy policy);
// UNSPECIFIED for kKeep: it may be sent without a key and in a follow-up.
v1::KeyPolicy ToProto(KeyPolicy policy);
v1::NackDisposition ToProto(Disposition disposition);
v1::Packing ToProto(Packing packing);
v1::PauseMode ToProto(PauseMode mode);
v1::RetryKind ToProto(RetryKind kind);

EnqueueOutcome FromProto(v1::EnqueueOutcome outcome);
HistoryPolicy FromProto(v1::HistoryPolicy policy);
LeaseState FromProto(v1::LeaseState state);
WorkerCommand FromProto(v1::WorkerCommand command);
Packing FromProto(v1::Packing packing);
PauseMode FromProto(v1::PauseMode mode);
RetryKind FromProto(v1::RetryKind kind);
SettleOutcome FromProto(v1::SettleOutcome outcome);
TaskState FromProto(v1::TaskState state);

}  // namespace skiplane::internal
