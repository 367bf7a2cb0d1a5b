#include <array>
#include <limits>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/queue.h"

namespace skiplane::model {
namespace {

using Json = nlohmann::json;  // members in the order of their names: the text is canonical

constexpr std::array<absl::string_view, 4> kRetryKinds = {"linear", "fixed", "exponential",
                                                          "table"};
constexpr std::array<absl::string_view, 3> kHistoryPolicies = {"all", "failures", "none"};
constexpr std::array<absl::string_view, 2> kPackings = {"off", "automatic"};

template <typename Enum, size_t n>
std::string EnumText(Enum value, const std::array<absl::string_view, n>& names) {
  return std::string(names.at(static_cast<size_t>(value) - 1));
}

// What the table holds was written by a broker: anything else is a defect, not a caller's fault.
absl::Status Unreadable(absl::string_view member) {
  return base::Refuse(absl::StatusCode::kInternal, "INTERNAL_ERROR",
                      absl::StrCat("unreadable queue settings: ", member));
}

absl::Status ReadInteger(const Json& value, absl::string_view member, int64_t* out) {
  const bool too_large = value.is_number_unsigned() &&
                         value.get<uint64_t>() > std::numeric_limits<int64_t>::max();
  if (!value.is_number_integer() || too_large) return Unreadable(member);
  *out = value.get<int64_t>();
  return absl::OkStatus();
}

absl::Status Read(const Json& value, absl::string_view member, int32_t* out) {
  int64_t number = 0;
  RETURN_IF_ERROR(ReadInteger(value, member, &number));
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) return Unreadable(member);
  *out = static_cast<int32_t>(number);
  return absl::OkStatus();
}

absl::Status Read(const Json& value, absl::string_view member, int64_t* out) {
  return ReadInteger(value, member, out);
}

absl::Status Read(const Json& value, absl::string_view member, double* out) {
  if (!value.is_number()) return Unreadable(member);
  *out = value.get<double>();
  return absl::OkStatus();
}

absl::Status Read(const Json& value, absl::string_view member, absl::Duration* out) {
  int64_t microseconds = 0;
  RETURN_IF_ERROR(ReadInteger(value, member, &microseconds));
  *out = absl::Microseconds(microseconds);
  return absl::OkStatus();
}

absl::Status Read(const Json& value, absl::string_view member, std::vector<absl::Duration>* out) {
  if (!value.is_array()) return Unreadable(member);
  out->clear();
  for (const Json& entry : value) {
    RETURN_IF_ERROR(Read(entry, member, &out->emplace_back()));
  }
  return absl::OkStatus();
}

template <typename Enum, size_t n>
absl::Status ReadEnum(const Json& value, const std::array<absl::string_view, n>& names,
                      Enum* out) {
  if (!value.is_string()) return Unreadable("name expected");
  for (size_t i = 0; i < n; ++i) {
    if (value.get_ref<const std::string&>() != names[i]) continue;
    *out = static_cast<Enum>(i + 1);
    return absl::OkStatus();
  }
  return Unreadable("name unknown to this version");
}

absl::Status Read(const Json& value, absl::string_view, RetryKind* out) {
  return ReadEnum(value, kRetryKinds, out);
}

absl::Status Read(const Json& value, absl::string_view, HistoryPolicy* out) {
  return ReadEnum(value, kHistoryPolicies, out);
}

absl::Status Read(const Json& value, absl::string_view, Packing* out) {
  return ReadEnum(value, kPackings, out);
}

absl::Status Read(const Json& value, absl::string_view member, bool* out) {
  if (!value.is_boolean()) return Unreadable(member);
  *out = value.get<bool>();
  return absl::OkStatus();
}

absl::Status Read(const Json& value, absl::string_view member, std::string* out) {
  if (!value.is_string()) return Unreadable(member);
  *out = value.get<std::string>();
  return absl::OkStatus();
}

absl::Status Read(const Json& object, absl::string_view member, RetryPolicy* out);
absl::Status Read(const Json& value, absl::string_view member, std::vector<Stage>* out);

// Leaves `out` at its default if there is no such member.
template <typename T>
absl::Status ReadMember(const Json& object, const char* member, T* out) {
  const auto found = object.find(member);
  return found == object.end() ? absl::OkStatus() : Read(*found, member, out);
}

absl::Status Read(const Json& object, absl::string_view, RetryPolicy* out) {
  if (!object.is_object()) return Unreadable("retry");
  RETURN_IF_ERROR(ReadMember(object, "kind", &out->kind));
  RETURN_IF_ERROR(ReadMember(object, "base_delay_us", &out->base_delay));
  RETURN_IF_ERROR(ReadMember(object, "factor", &out->factor));
  RETURN_IF_ERROR(ReadMember(object, "max_delay_us", &out->max_delay));
  RETURN_IF_ERROR(ReadMember(object, "delays_us", &out->delays));
  RETURN_IF_ERROR(ReadMember(object, "jitter", &out->jitter));
  return ReadMember(object, "max_attempts", &out->max_attempts);
}

// Leaves `out` unset if there is no such member.
template <typename T>
absl::Status ReadIfAny(const Json& object, const char* member, std::optional<T>* out) {
  return object.contains(member) ? Read(object[member], member, &out->emplace()) : absl::OkStatus();
}

absl::Status Read(const Json& object, absl::string_view member, Stage* out) {
  if (!object.is_object()) return Unreadable(member);
  RETURN_IF_ERROR(ReadMember(object, "name", &out->name));
  RETURN_IF_ERROR(ReadIfAny(object, "retry", &out->retry));
  RETURN_IF_ERROR(ReadIfAny(object, "lease_duration_us", &out->lease_duration));
  return ReadIfAny(object, "max_run_duration_us", &out->max_run_duration);
}

absl::Status Read(const Json& value, absl::string_view member, std::vector<Stage>* out) {
  if (!value.is_array()) return Unreadable(member);
  out->clear();
  for (const Json& entry : value) {
    RETURN_IF_ERROR(Read(entry, member, &out->emplace_back()));
  }
  return absl::OkStatus();
}

Json RetryToJson(const RetryPolicy& retry) {
  Json delays = Json::array();
  for (const absl::Duration delay : retry.delays) {
    delays.push_back(absl::ToInt64Microseconds(delay));
  }
  return Json{{"kind", EnumText(retry.kind, kRetryKinds)},
              {"base_delay_us", absl::ToInt64Microseconds(retry.base_delay)},
              {"factor", retry.factor},
              {"max_delay_us", absl::ToInt64Microseconds(retry.max_delay)},
              {"delays_us", std::move(delays)},
              {"jitter", retry.jitter},
              {"max_attempts", retry.max_attempts}};
}

Json StagesToJson(const std::vector<Stage>& stages) {
  Json array = Json::array();
  for (const Stage& stage : stages) {
    Json& entry = array.emplace_back(Json{{"name", stage.name}});
    if (stage.retry) entry["retry"] = RetryToJson(*stage.retry);
    if (stage.lease_duration) {
      entry["lease_duration_us"] = absl::ToInt64Microseconds(*stage.lease_duration);
    }
    if (stage.max_run_duration) {
      entry["max_run_duration_us"] = absl::ToInt64Microseconds(*stage.max_run_duration);
    }
  }
  return array;
}

}  // namespace

std::string SettingsToJson(const QueueSettings& settings) {
  Json json{{"retry", RetryToJson(settings.retry)},
            {"history", EnumText(settings.history, kHistoryPolicies)},
            {"lease_duration_us", absl::ToInt64Microseconds(settings.lease_duration)},
            {"max_payload_bytes", settings.max_payload_bytes},
            {"stages", StagesToJson(settings.stages)},
            {"max_run_duration_us", absl::ToInt64Microseconds(settings.max_run_duration)},
            {"periodic_history", EnumText(settings.periodic_history, kHistoryPolicies)},
            {"history_days", settings.history_days},
            {"failed_days", settings.failed_days},
            {"keep_payloads", settings.keep_payloads},
            {"keep_results", settings.keep_results}};
  const QueueLimits& limits = settings.limits;
  if (limits.max_depth) json["max_depth"] = *limits.max_depth;
  if (limits.max_bytes) json["max_bytes"] = *limits.max_bytes;
  if (limits.max_enqueue_rate) json["max_enqueue_rate"] = *limits.max_enqueue_rate;
  if (settings.packing != QueueSettings().packing) {
    json["packing"] = EnumText(settings.packing, kPackings);
  }
  return json.dump();
}

absl::StatusOr<QueueSettings> SettingsFromJson(absl::string_view json) {
  const Json object = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Unreadable("not a JSON object");
  QueueSettings settings;
  RETURN_IF_ERROR(ReadMember(object, "retry", &settings.retry));
  RETURN_IF_ERROR(ReadMember(object, "history", &settings.history));
  RETURN_IF_ERROR(ReadMember(object, "lease_duration_us", &settings.lease_duration));
  RETURN_IF_ERROR(ReadMember(object, "max_payload_bytes", &settings.max_payload_bytes));
  RETURN_IF_ERROR(ReadMember(object, "stages", &settings.stages));
  RETURN_IF_ERROR(ReadMember(object, "max_run_duration_us", &settings.max_run_duration));
  RETURN_IF_ERROR(ReadMember(object, "periodic_history", &settings.periodic_history));
  RETURN_IF_ERROR(ReadMember(object, "history_days", &settings.history_days));
  RETURN_IF_ERROR(ReadMember(object, "failed_days", &settings.failed_days));
  RETURN_IF_ERROR(ReadMember(object, "keep_payloads", &settings.keep_payloads));
  RETURN_IF_ERROR(ReadMember(object, "keep_results", &settings.keep_results));
  RETURN_IF_ERROR(ReadIfAny(object, "max_depth", &settings.limits.max_depth));
  RETURN_IF_ERROR(ReadIfAny(object, "max_bytes", &settings.limits.max_bytes));
  RETURN_IF_ERROR(ReadIfAny(object, "max_enqueue_rate", &settings.limits.max_enqueue_rate));
  RETURN_IF_ERROR(ReadMember(object, "packing", &settings.packing));
  return settings;
}

}  // namespace skiplane::model
