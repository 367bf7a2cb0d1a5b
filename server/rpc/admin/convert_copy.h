// The requests of operators that give tasks content, and lists of schedules, checked and converted.
// Pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

absl::StatusOr<broker::ChangeTaskCall> ReadRetryTask(v1::RetryTaskRequest* request);
absl::StatusOr<broker::CopyTaskCall> ReadCopyTask(v1::CopyTaskRequest* request);
absl::StatusOr<broker::CopyTaskCall> ReadMoveTask(v1::MoveTaskRequest* request);

absl::StatusOr<broker::ListSchedulesCall> ReadListSchedules(v1::ListSchedulesRequest* request);
void WriteSchedules(broker::SchedulePage* page, const std::string& scope,
                    v1::ListSchedulesResponse* response);

}  // namespace skiplane::rpc
