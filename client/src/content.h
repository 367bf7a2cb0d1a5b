// Content on its way through a client's codec (codec.h): encoded before a message is made of it,
// decoded after it came out of one.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "skiplane/calls.h"
#include "skiplane/options.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::internal {

// As ToProto, AckToProto and SettleToProto of convert_task.h, and the codec's errors.
// INVALID_ARGUMENT for what a codec cannot take: a header of its name, an ack without its queue.
absl::StatusOr<v1::EnqueueRequest> EncodeToProto(const ClientOptions& options, EnqueueCall call);
absl::StatusOr<v1::AckRequest> EncodeToAck(const ClientOptions& options,
                                           std::vector<AckItem> items);
absl::StatusOr<v1::SettleRequest> EncodeToSettle(const ClientOptions& options,
                                                 std::vector<SettleItem> items);

// Whether the codec is to blame for a call that failed: nothing was sent.
bool IsNotEncoded(const absl::Status& status);

// Replaces each payload by what was encoded, or says in its task why that cannot be.
void DecodeTasks(const ClientOptions& options, LeaseAnswer& answer);
void DecodeTasks(const ClientOptions& options, SettleAndLeaseAnswer& answer);

// The same for the result of a task.
void DecodeResult(const ClientOptions& options, Task& task);

// The error of an attempt whose payload cannot be decoded.
TaskError NotDecoded(const absl::Status& status);

}  // namespace skiplane::internal
