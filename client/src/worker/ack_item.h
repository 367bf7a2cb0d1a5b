// The ack of a result that is Done, and what becomes of the attempt when the broker refuses it; the
// weight of any result in a call.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "skiplane/ack.h"
#include "skiplane/worker.h"

namespace skiplane::internal {

// The output is cut to what the broker accepts, less what a codec adds.
AckItem ToAckItem(const LeasedTask& task, const Result& result, bool has_codec);

// About how many bytes of a request the item takes.
size_t BytesOf(const Result& result);

// Whether a repeat of the call would be refused again for what it holds, by the broker or by the
// codec, so that its items must not be kept for one. What the database refuses, as for a missing
// right, is mended without the worker.
bool IsRefusal(const absl::Status& status);

// A failure with the broker's reason as its type, so that it is found among the error groups; or
// CONTENT_NOT_ENCODED.
Result FromRefusal(const absl::Status& status);

}  // namespace skiplane::internal
