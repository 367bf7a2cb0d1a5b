// Between the values of task.h and calls.h and the messages of broker.proto and task.proto.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "skiplane/calls.h"
#include "skiplane/task.h"
#include "skiplane/v1/broker.pb.h"
#include "skiplane/v1/task.pb.h"

namespace skiplane::internal {

// INVALID_ARGUMENT for a task that no message can say; see MoveTask.
absl::StatusOr<v1::EnqueueRequest> ToProto(EnqueueCall call);
EnqueueResult FromProto(const v1::EnqueueResult& result);
std::vector<EnqueueResult> FromProto(const v1::EnqueueResponse& response);

v1::LeaseRequest ToProto(const LeaseCall& call);
LeaseAnswer FromProto(v1::LeaseResponse response);

// The begin of a stream that works as the call would.
v1::WorkHello ToHello(const LeaseCall& call);

// INVALID_ARGUMENT for an item with both a next stage and finish, or with such a task.
absl::StatusOr<v1::AckRequest> AckToProto(std::vector<AckItem> items);
std::vector<SettleResult> FromProto(const v1::AckResponse& response);

v1::NackRequest NackToProto(std::vector<NackItem> items);
std::vector<SettleResult> FromProto(const v1::NackResponse& response);

// As AckToProto.
absl::StatusOr<v1::SettleRequest> SettleToProto(std::vector<SettleItem> items);
std::vector<SettleResult> FromProto(const v1::SettleResponse& response);

v1::HeartbeatRequest ToProto(HeartbeatCall call);
HeartbeatAnswer FromProto(const v1::HeartbeatResponse& response);

Task FromProto(const v1::Task& task);

}  // namespace skiplane::internal
