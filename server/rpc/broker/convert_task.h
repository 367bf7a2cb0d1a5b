// Tasks as operators see them, on their way to the wire. Pure functions.
#pragma once

#include <string>

#include "server/model/report.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

// Takes the texts out of `task`.
void WriteTask(model::TaskView* task, v1::Task* wire);

// Takes the texts out of `attempt`.
void WriteAttempt(model::Attempt* attempt, const std::string& stage, v1::Attempt* wire);

// Take the texts out of what they write.
void WriteError(model::TaskError* error, v1::TaskError* wire);
void WriteProgress(model::TaskProgress* progress, v1::TaskProgress* wire);

// For every response that is just the task as it is now.
template <typename Response>
void WriteChangedTask(model::TaskView* task, Response* response) {
  WriteTask(task, response->mutable_task());
}

}  // namespace skiplane::rpc
