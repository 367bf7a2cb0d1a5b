#include "client/src/convert_new_task.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/src/convert_enum.h"
#include "client/src/convert_time.h"

namespace skiplane::internal {
namespace {

void MoveRecurrence(NewTask& task, v1::NewTask* proto) {
  if (task.period) ToProto(*task.period, proto->mutable_period());
  if (!task.cron.empty()) proto->set_cron(std::move(task.cron));
  proto->set_time_zone(std::move(task.time_zone));
  // Unset means SKIP_MISSED, and may be sent of a task that is not periodic.
  if (task.catch_up == CatchUp::kRunAll) proto->set_catch_up(v1::CATCH_UP_RUN_ALL);
}

}  // namespace

absl::Status MoveTask(NewTask& task, absl::string_view at, v1::NewTask* proto) {
  if (task.schedule_time && task.delay) {
    return absl::InvalidArgumentError(absl::StrCat(at, " has both a schedule_time and a delay"));
  }
  if (task.period && !task.cron.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(at, " has both a period and a cron"));
  }
  proto->set_payload(std::move(task.payload));
  proto->set_content_type(std::move(task.content_type));
  for (auto& [key, value] : task.headers) (*proto->mutable_headers())[key] = std::move(value);
  proto->set_priority(task.priority);
  if (task.schedule_time) ToProto(*task.schedule_time, proto->mutable_schedule_time());
  if (task.delay) ToProto(*task.delay, proto->mutable_delay());
  if (task.max_attempts) proto->set_max_attempts(*task.max_attempts);
  proto->set_key(std::move(task.key));
  proto->set_key_policy(ToProto(task.key_policy));
  if (task.version) proto->set_version(*task.version);
  MoveRecurrence(task, proto);
  proto->set_stage(std::move(task.stage));
  proto->set_queue(std::move(task.queue));
  return absl::OkStatus();
}

}  // namespace skiplane::internal
