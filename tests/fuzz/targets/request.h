// What the targets of requests share: they read the bytes of a message as a method does.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/model/task.h"
#include "server/rpc/call/status.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {

// At most `bytes_max` bytes, none of them NUL.
void DemandText(absl::string_view text, size_t bytes_max);
void DemandNumber(int64_t value, int64_t least, int64_t most);
void DemandDuration(absl::Duration value, absl::Duration least, absl::Duration most);
void DemandHeaders(const model::Headers& headers);
void DemandQueueName(absl::string_view name);

// That callers can be told of it: with a reason, and within the bounds of a trailer.
void DemandTellable(const absl::Status& refusal);

// `obeys` demands of a call that it is within the limits.
template <typename Call, typename Request>
void ReadRequest(absl::string_view bytes, absl::StatusOr<Call> (*read)(Request*),
                 void (*obeys)(Call& call)) {
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  absl::StatusOr<Call> call = read(&request);
  if (call.ok()) {
    obeys(*call);
  } else {
    DemandRefusal(call.status());
    DemandTellable(call.status());
  }
}

}  // namespace skiplane::fuzz
