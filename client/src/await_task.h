// Reads a task, or waits for its end, for longer than one call may wait.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/src/connection.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::internal {

// The answer when the task has ended, or as it is when `wait` is over.
absl::StatusOr<v1::GetTaskResponse> AwaitTask(const std::shared_ptr<Connection>& connection,
                                              v1::GetTaskRequest request, absl::Duration wait);

}  // namespace skiplane::internal
