// Why a call was refused, in more detail than its code.
//
// Each failed status of a Client carries the broker's stable reason as a payload, for example
// "QUEUE_NOT_FOUND" (the names of skiplane.v1.ErrorReason without prefix). Branch on the code first
// and on the reason where the code is not enough; messages are for people only.
// A status that no broker made (no connection, deadline) has no reason.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace skiplane {

// The reason of `status`; empty if it has none.
std::string ErrorReason(const absl::Status& status);

// How long to wait before the call has a chance, as the broker says of UNAVAILABLE and
// RESOURCE_EXHAUSTED; nothing if it does not say. A Client has waited so already before each of its
// own repeats.
std::optional<absl::Duration> RetryDelay(const absl::Status& status);

// The path of the field at fault, as in "tasks[3].priority"; empty if none.
std::string ErrorField(const absl::Status& status);

}  // namespace skiplane
