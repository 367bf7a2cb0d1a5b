// Takes the messages of gRPC's library out of standard error, where they would stand between the
// lines of the log. Any stranger can cause them: a failed handshake makes several lines.
#pragma once

namespace skiplane::rpc {

// From now on such lines are debug events of the log (base/sampled_event.h). Idempotent.
void TakeGrpcLog();

}  // namespace skiplane::rpc
