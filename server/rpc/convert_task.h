// Tasks as operators see them, on their way to the wire. Pure functions.
#pragma once

#include "server/model/task.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

v1::TaskState WireState(model::TaskState state);

// Takes the texts out of `task`.
void WriteGetTask(model::TaskView* task, v1::GetTaskResponse* response);

}  // namespace skiplane::rpc
