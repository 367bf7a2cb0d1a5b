// The refusal of a change that does not suit the state of its task.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/broker/api/operator_calls.h"
#include "server/model/task.h"

namespace skiplane::broker {

// WRONG_STATE. `suited` are the tasks that the method is for.
absl::Status WrongState(const model::TaskView& task, absl::string_view method,
                        absl::string_view suited);

absl::Status WrongState(const model::TaskView& task, const ChangeTaskCall& call);

// WRONG_STATE of a task that does not run until its pause is over.
absl::Status PausedTask(const model::TaskId& id);

}  // namespace skiplane::broker
