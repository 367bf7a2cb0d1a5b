#include "server/model/task_filter.h"

#include "nlohmann/json.hpp"
#include "server/base/reason.h"

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

std::optional<absl::Duration> TakeDuration(const Json& object, const char* name) {
  if (!object.contains(name)) return std::nullopt;
  return absl::Microseconds(object.value(name, int64_t{0}));
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
  return object;
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
  const Json headers = object.value("headers", Json::object());
  for (const auto& [key, value] : headers.items()) {
    filter.headers.emplace_back(key, value.get<std::string>());
  }
  filter.fingerprint = object.value("fingerprint", "");
  filter.min_age = TakeDuration(object, "min_age_us");
  filter.max_age = TakeDuration(object, "max_age_us");
  if (object.contains("priority")) filter.priority = object.value("priority", int16_t{0});
  if (object.contains("periodic")) filter.periodic = object.value("periodic", false);
  return filter;
}

}  // namespace

bool TaskFilter::IsNarrow() const {
  TaskFilter all;
  all.queue = queue;
  return *this != all;
}

std::string BulkToJson(const TaskFilter& filter, const TaskChange& change) {
  return Json{{"filter", FilterToJson(filter)},
              {"change",
               {{"kind", static_cast<int>(change.kind)},
                {"priority", change.priority},
                {"schedule_time_us", absl::ToUnixMicros(change.schedule_time)},
                {"postpone_us", absl::ToInt64Microseconds(change.postpone)}}}}
      .dump();
}

absl::Status BulkFromJson(absl::string_view json, TaskFilter* filter, TaskChange* change) {
  const Json object = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("filter") || !object.contains("change")) {
    return base::Refuse(absl::StatusCode::kInternal, "INTERNAL_ERROR",
                        "unreadable bulk operation");
  }
  *filter = FilterFromJson(object["filter"]);
  const Json& out = object["change"];
  change->kind = static_cast<TaskChange::Kind>(out.value("kind", 0));
  change->priority = out.value("priority", int16_t{0});
  change->schedule_time = absl::FromUnixMicros(out.value("schedule_time_us", int64_t{0}));
  change->postpone = absl::Microseconds(out.value("postpone_us", int64_t{0}));
  return absl::OkStatus();
}

}  // namespace skiplane::model
