// The requests of operators about tasks, schedules and reports, checked and converted, and the
// answers to them. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

absl::StatusOr<broker::GetTaskCall> ReadGetTask(v1::GetTaskRequest* request);
void WriteGetTask(broker::TaskDetails* details, v1::GetTaskResponse* response);

absl::StatusOr<broker::ListTasksCall> ReadListTasks(v1::ListTasksRequest* request);

absl::StatusOr<broker::ExplainTaskCall> ReadExplainTask(v1::ExplainTaskRequest* request);
void WriteExplainTask(broker::Explanation* why, v1::ExplainTaskResponse* response);

absl::StatusOr<broker::ChangeTaskCall> ReadPrioritizeTask(v1::PrioritizeTaskRequest* request);
absl::StatusOr<broker::ChangeTaskCall> ReadRescheduleTask(v1::RescheduleTaskRequest* request);
absl::StatusOr<broker::ChangeTaskCall> ReadCancelTask(v1::CancelTaskRequest* request);
absl::StatusOr<broker::ChangeTaskCall> ReadDeleteTask(v1::DeleteTaskRequest* request);
absl::StatusOr<broker::ChangeTaskCall> ReadPauseTask(v1::PauseTaskRequest* request);
absl::StatusOr<broker::ChangeTaskCall> ReadResumeTask(v1::ResumeTaskRequest* request);
absl::StatusOr<broker::ChangeTaskCall> ReadTriggerTask(v1::TriggerTaskRequest* request);

absl::StatusOr<broker::PreviewCall> ReadPreviewSchedule(v1::PreviewScheduleRequest* request);
void WritePreviewSchedule(std::vector<absl::Time>* times, v1::PreviewScheduleResponse* response);

}  // namespace skiplane::rpc
