// Between the values of queue.h and the messages of queue.proto.
#pragma once

#include "skiplane/queue.h"
#include "skiplane/v1/queue.pb.h"

namespace skiplane::internal {

void ToProto(const QueueSettings& settings, v1::QueueSettings* proto);
Queue FromProto(const v1::Queue& proto);

}  // namespace skiplane::internal
