// Takes what gRPC's library says of its own accord out of standard error, where it would stand
// between the lines of the log: a failed handshake makes several lines, at any stranger's wish.
#pragma once

namespace skiplane::rpc {

// From now on such lines are debug events of the log (base/sampled_event.h). Idempotent.
void TakeGrpcLog();

}  // namespace skiplane::rpc
