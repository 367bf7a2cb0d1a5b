#include "server/rpc/broker/convert_new_task.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

// The fields of the task at `at`.
struct Fields {
  Field operator()(absl::string_view name) const {
    return {name, at.list, at.index, nullptr, at.name};
  }
  const Field& at;
};

absl::Status ReadStart(const v1::NewTask& wire, const Fields& field, model::NewTask* task) {
  if (wire.has_delay()) {
    ASSIGN_OR_RETURN(task->delay,
                     ReadDuration(wire.delay(), {absl::ZeroDuration(), model::kStartAheadMax},
                                  field("delay")));
  }
  if (wire.has_schedule_time()) {
    ASSIGN_OR_RETURN(const absl::Time time,
                     ReadTime(wire.schedule_time(), field("schedule_time")));
    // The only use of the broker's clock for a task's time: a bound of ten years needs no better.
    if (time > absl::Now() + model::kStartAheadMax) {
      return InvalidField(field("schedule_time"), "is more than 10 years ahead");
    }
    task->schedule_time = time;
  }
  return absl::OkStatus();
}

absl::Status CheckVersion(const v1::NewTask& wire, std::optional<model::KeyPolicy> policy,
                          const Field& field) {
  if (!wire.has_version()) {
    if (policy != model::KeyPolicy::kRerunIfNewer) return absl::OkStatus();
    return InvalidField(field, "must be set with RERUN_IF_NEWER");
  }
  if (wire.version() < 1) return InvalidField(field, "must be 1 or more: leave it out for none");
  if (wire.key().empty()) return InvalidField(field, "must be unset without a key");
  if (policy != model::KeyPolicy::kSchedule) return absl::OkStatus();
  return InvalidField(field, "must be unset with SCHEDULE");
}

absl::Status ReadKey(v1::NewTask* wire, const Fields& field, model::NewTask* task) {
  RETURN_IF_ERROR(CheckText(wire->key(), model::kKeyBytesMax, field("key")));
  ASSIGN_OR_RETURN(const auto policy, ReadEnum(wire->key_policy(), field("key_policy")));
  if (policy.has_value() && wire->key().empty()) {
    return InvalidField(field("key_policy"), "must be unset without a key");
  }
  RETURN_IF_ERROR(CheckVersion(*wire, policy, field("version")));
  if (policy == model::KeyPolicy::kSchedule && !wire->has_period() && !wire->has_cron()) {
    return InvalidField(field("key_policy"), "must not be SCHEDULE without period or cron");
  }
  task->key = std::move(*wire->mutable_key());
  task->key_policy = policy.value_or(task->key_policy);
  task->version = wire->version();
  return absl::OkStatus();
}

absl::Status ReadRecurrence(v1::NewTask* wire, const Fields& field, model::NewTask* task) {
  if (wire->has_period()) {
    ASSIGN_OR_RETURN(task->period,
                     ReadDuration(wire->period(), {model::kPeriodMin, model::kPeriodMax},
                                  field("period")));
  }
  if (wire->has_cron()) {
    RETURN_IF_ERROR(CheckRequiredText(wire->cron(), model::kCronBytesMax, field("cron")));
    task->cron = std::move(*wire->mutable_cron());
  }
  RETURN_IF_ERROR(CheckText(wire->time_zone(), model::kTimeZoneBytesMax, field("time_zone")));
  if (!wire->time_zone().empty() && task->cron.empty()) {
    return InvalidField(field("time_zone"), "must be unset without cron");
  }
  ASSIGN_OR_RETURN(task->run_all, ReadEnum(wire->catch_up(), field("catch_up")));
  if (wire->catch_up() != v1::CATCH_UP_UNSPECIFIED && !task->IsPeriodic()) {
    return InvalidField(field("catch_up"), "must be unset without period or cron");
  }
  task->time_zone = std::move(*wire->mutable_time_zone());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<model::Headers> ReadHeaders(google::protobuf::Map<std::string, std::string>* wire,
                                           const Field& at) {
  if (wire->empty()) return model::Headers();
  RETURN_IF_ERROR(CheckCount(static_cast<int>(wire->size()),
                             {0, static_cast<int64_t>(model::kHeadersMax)}, at));
  model::Headers headers;
  headers.reserve(wire->size());
  for (auto& [key, value] : *wire) {
    const Field entry = {at.name, at.list, at.index, &key, at.outer};
    RETURN_IF_ERROR(CheckRequiredText(key, model::kHeaderKeyBytesMax, entry));
    RETURN_IF_ERROR(CheckText(value, model::kHeaderValueBytesMax, entry));
    headers.emplace_back(key, std::move(value));
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

absl::StatusOr<model::NewTask> ReadNewTask(v1::NewTask* wire, const Field& at) {
  const Fields field{at};
  model::NewTask task;
  RETURN_IF_ERROR(CheckBytes(wire->payload(), model::kPayloadBytesMax, field("payload")));
  RETURN_IF_ERROR(
      CheckText(wire->content_type(), model::kContentTypeBytesMax, field("content_type")));
  ASSIGN_OR_RETURN(task.headers, ReadHeaders(wire->mutable_headers(), field("headers")));
  RETURN_IF_ERROR(CheckNumber(wire->priority(), {model::kPriorityMin, model::kPriorityMax},
                              field("priority")));
  RETURN_IF_ERROR(ReadStart(*wire, field, &task));
  if (wire->has_max_attempts()) {
    RETURN_IF_ERROR(CheckNumber(wire->max_attempts(), {1, model::kMaxAttemptsMax},
                                field("max_attempts")));
  }
  RETURN_IF_ERROR(ReadKey(wire, field, &task));
  RETURN_IF_ERROR(ReadRecurrence(wire, field, &task));
  RETURN_IF_ERROR(CheckText(wire->stage(), model::kStageNameBytesMax, field("stage")));
  task.payload = std::move(*wire->mutable_payload());
  task.content_type = std::move(*wire->mutable_content_type());
  task.priority = static_cast<int16_t>(wire->priority());
  task.max_attempts = wire->max_attempts();
  task.stage = std::move(*wire->mutable_stage());
  task.queue = std::move(*wire->mutable_queue());
  return task;
}

}  // namespace skiplane::rpc
