// From the values of new_task.h to the messages of broker.proto, for calls and for follow-ups.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "skiplane/new_task.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::internal {

// Moves `task` into `proto`. INVALID_ARGUMENT for what the message cannot say: both a schedule time
// and a delay, or both a period and a cron; `at` names the task, as in "tasks[3]".
absl::Status MoveTask(NewTask& task, absl::string_view at, v1::NewTask* proto);

}  // namespace skiplane::internal
