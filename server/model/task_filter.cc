#include "server/model/task_filter.h"

#include <map>

#include "nlohmann/json.hpp"
#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::model {
namespace {

using Json = nlohmann::json;

constexpr std::pair<const char*, bool TaskStates::*> kStates[] = {
    {"scheduled", &TaskStates::scheduled}, {"ready", &TaskStates::ready},
    {"leased", &TaskStates::leased},       {"succeeded", &TaskStates::succeeded},
    {"failed", &TaskStates::failed},       {"cancelled", &TaskStates::cancelled}};

void PutDuration(const char* name, const std::optional<absl::Duration>& value, Json* object) {
  if (value.has_value()) (*object)[name] = absl::ToInt64Microseconds(*value);
}

// 0 if there is none. A number with a fraction is of another type.
int64_t TakeInteger(const Json& object, const char* name) {
  return object.contains(name) ? object[name].get_ref<const int64_t&>() : 0;
}

std::optional<absl::Duration> TakeDuration(const Json& object, const char* name) {
  if (!object.contains(name)) return std::nullopt;
  return absl::Microseconds(TakeInteger(object, name));
}

Json FilterToJson(const TaskFilter& filter) {
  Json object = {{"queue", filter.queue}};
  if (!filter.stage.empty()) object["stage"] = filter.stage;
  for (const auto& [name, member] : kStates) {
    if (filter.states.*member) object["states"].push_back(name);
  }
  if (!filter.key_prefix.empty()) object["key_prefix"] = filter.key_prefix;
  for (const auto& [key, value] : filter.headers) object["headers"][key] = value;
  if (!filter.fingerprint.empty()) object["fingerprint"] = filter.fingerprint;
  PutDuration("min_age_us", filter.min_age, &object);
  PutDuration("max_age_us", filter.max_age, &object);
  if (filter.priority.has_value()) object["priority"] = *filter.priority;
  if (filter.periodic.has_value()) object["periodic"] = *filter.periodic;
  for (const TaskId& id : filter.ids) object["task_ids"].push_back(FormatTaskId(id));
  if (!filter.error_type.empty()) object["error_type"] = filter.error_type;
  if (filter.min_attempts > 0) object["min_attempts"] = filter.min_attempts;
  if (filter.start.has_value()) object["start_us"] = absl::ToUnixMicros(*filter.start);
  if (filter.end.has_value()) object["end_us"] = absl::ToUnixMicros(*filter.end);
  if (!filter.payload_text.empty()) object["payload_text"] = filter.payload_text;
  return object;
}

std::optional<absl::Time> TakeTime(const Json& object, const char* name) {
  if (!object.contains(name)) return std::nullopt;
  return absl::FromUnixMicros(TakeInteger(object, name));
}

absl::StatusOr<std::vector<TaskId>> TakeIds(const Json& object) {
  std::vector<TaskId> ids;
  for (const std::string& text : object.value("task_ids", std::vector<std::string>())) {
    ASSIGN_OR_RETURN(ids.emplace_back(), ParseTaskId(text));
  }
  return ids;
}

TaskFilter FilterFromJson(const Json& object) {
  TaskFilter filter;
  filter.queue = object.value("queue", "");
  filter.stage = object.value("stage", "");
  const Json states = object.value("states", Json::array());
  for (const auto& [name, member] : kStates) {
    for (const Json& state : states) filter.states.*member |= state == name;
  }
  filter.key_prefix = object.value("key_prefix", "");
  for (const auto& [key, value] : object.value("headers", std::map<std::string, std::string>())) {
    filter.headers.emplace_back(key, value);
  }
  filter.fingerprint = object.value("fingerprint", "");
  filter.min_age = TakeDuration(object, "min_age_us");
  filter.max_age = TakeDuration(object, "max_age_us");
  if (object.contains("priority")) {
    filter.priority = static_cast<int16_t>(TakeInteger(object, "priority"));
  }
  if (object.contains("periodic")) filter.periodic = object.value("periodic", false);
  filter.error_type = object.value("error_type", "");
  filter.min_attempts = static_cast<int32_t>(TakeInteger(object, "min_attempts"));
  filter.start = TakeTime(object, "start_us");
  filter.end = TakeTime(object, "end_us");
  filter.payload_text = object.value("payload_text", "");
  return filter;
}

TaskChange ChangeFromJson(const Json& object) {
  TaskChange change;
  change.kind = static_cast<TaskChange::Kind>(TakeInteger(object, "kind"));
  change.priority = static_cast<int16_t>(TakeInteger(object, "priority"));
  change.schedule_time = absl::FromUnixMicros(TakeInteger(object, "schedule_time_us"));
  change.postpone = absl::Microseconds(TakeInteger(object, "postpone_us"));
  change.with_tasks = object.value("with_tasks", false);
  return change;
}

// What the table holds was written by a broker: anything else is a defect, not a caller's fault.
absl::Status Unreadable() {
  return base::Refuse(absl::StatusCode::kInternal, "INTERNAL_ERROR", "unreadable bulk operation");
}

}  // namespace

bool TaskFilter::IsNarrow() const {
  TaskFilter all;
  all.queue = queue;
  return *this != all;
}

bool TaskStates::Contain(TaskState state) const {
  switch (state) {
    case TaskState::kScheduled: return scheduled;
    case TaskState::kReady: return ready;
    case TaskState::kLeased: return leased;
    case TaskState::kSucceeded: return succeeded;
    case TaskState::kFailed: return failed;
    case TaskState::kCancelled: return cancelled;
  }
  return false;
}

bool TaskFilter::IsForNewerBrokers() const {
  return !(ids.empty() && error_type.empty() && payload_text.empty()) || min_attempts > 0 ||
         start.has_value() || end.has_value();
}

std::string BulkToJson(const TaskFilter& filter, const TaskChange& change) {
  return Json{{"filter", FilterToJson(filter)},
              {"change",
               {{"kind", static_cast<int>(change.kind)},
                {"priority", change.priority},
                {"schedule_time_us", absl::ToUnixMicros(change.schedule_time)},
                {"postpone_us", absl::ToInt64Microseconds(change.postpone)},
                {"with_tasks", change.with_tasks}}}}
      .dump();
}

absl::Status BulkFromJson(absl::string_view json, TaskFilter* filter, TaskChange* change) {
  try {
    const Json object = Json::parse(json.begin(), json.end());
    *filter = FilterFromJson(object.at("filter"));
    absl::StatusOr<std::vector<TaskId>> ids = TakeIds(object.at("filter"));
    if (!ids.ok()) return Unreadable();
    filter->ids = *std::move(ids);
    *change = ChangeFromJson(object.at("change"));
  } catch (const Json::exception&) {  // no JSON, or a member of another type
    return Unreadable();
  }
  const bool is_known = change->kind >= TaskChange::Kind::kPrioritize &&
                        change->kind <= TaskChange::Kind::kDeleteQueue;
  return is_known ? absl::OkStatus() : Unreadable();
}

}  // namespace skiplane::model
