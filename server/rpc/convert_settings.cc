#include "server/rpc/convert_settings.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/rpc/field.h"
#include "server/rpc/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kPrefix = "settings.";

// What protobuf can hold; the model knows the ranges.
constexpr DurationRange kAnyDuration = {-absl::InfiniteDuration(), absl::InfiniteDuration()};

using Wire = v1::QueueSettings;
using Settings = model::QueueSettings;

absl::StatusOr<absl::Duration> DurationOr(bool is_set, const google::protobuf::Duration& wire,
                                          absl::Duration unset, absl::string_view name) {
  if (!is_set) return unset;
  return ReadDuration(wire, kAnyDuration, {name});
}

absl::Status TakeKind(const Wire& wire, Settings* to) {
  if (!v1::RetryKind_IsValid(wire.retry().kind())) {
    return InvalidField({"settings.retry.kind"}, "must be LINEAR, FIXED, EXPONENTIAL or TABLE");
  }
  const bool is_set = wire.retry().kind() != v1::RETRY_KIND_UNSPECIFIED;
  to->retry.kind =
      is_set ? static_cast<model::RetryKind>(wire.retry().kind()) : model::RetryPolicy().kind;
  return absl::OkStatus();
}

absl::Status TakeBaseDelay(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(to->retry.base_delay,
                   DurationOr(wire.retry().has_base_delay(), wire.retry().base_delay(),
                              model::RetryPolicy().base_delay, "settings.retry.base_delay"));
  return absl::OkStatus();
}

absl::Status TakeFactor(const Wire& wire, Settings* to) {
  const double factor = wire.retry().factor();
  to->retry.factor = factor == 0.0 ? model::RetryPolicy().factor : factor;
  return absl::OkStatus();
}

absl::Status TakeMaxDelay(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(to->retry.max_delay,
                   DurationOr(wire.retry().has_max_delay(), wire.retry().max_delay(),
                              model::RetryPolicy().max_delay, "settings.retry.max_delay"));
  return absl::OkStatus();
}

absl::Status TakeDelays(const Wire& wire, Settings* to) {
  std::vector<absl::Duration> delays;
  for (const google::protobuf::Duration& delay : wire.retry().delays()) {
    ASSIGN_OR_RETURN(const absl::Duration value,
                     ReadDuration(delay, kAnyDuration, {"", "settings.retry.delays",
                                                        delays.size()}));
    delays.push_back(value);
  }
  to->retry.delays = std::move(delays);
  return absl::OkStatus();
}

absl::Status TakeJitter(const Wire& wire, Settings* to) {
  to->retry.jitter = wire.retry().jitter();
  return absl::OkStatus();
}

absl::Status TakeMaxAttempts(const Wire& wire, Settings* to) {
  const int32_t attempts = wire.retry().max_attempts();
  to->retry.max_attempts = attempts == 0 ? model::RetryPolicy().max_attempts : attempts;
  return absl::OkStatus();
}

absl::Status TakeHistory(const Wire& wire, Settings* to) {
  if (!v1::HistoryPolicy_IsValid(wire.history())) {
    return InvalidField({"settings.history"}, "must be ALL, FAILURES or NONE");
  }
  const bool is_set = wire.history() != v1::HISTORY_POLICY_UNSPECIFIED;
  to->history = is_set ? static_cast<model::HistoryPolicy>(wire.history()) : Settings().history;
  return absl::OkStatus();
}

absl::Status TakeLeaseDuration(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(to->lease_duration,
                   DurationOr(wire.has_lease_duration(), wire.lease_duration(),
                              Settings().lease_duration, "settings.lease_duration"));
  return absl::OkStatus();
}

absl::Status TakePayloadBytesMax(const Wire& wire, Settings* to) {
  const int32_t bytes = wire.payload_bytes_max();
  to->payload_bytes_max = bytes == 0 ? Settings().payload_bytes_max : bytes;
  return absl::OkStatus();
}

struct Setting {
  absl::string_view path;
  absl::Status (*take)(const Wire&, Settings*);
};

constexpr std::array<Setting, 10> kSettings = {{
    {"retry.kind", &TakeKind},
    {"retry.base_delay", &TakeBaseDelay},
    {"retry.factor", &TakeFactor},
    {"retry.max_delay", &TakeMaxDelay},
    {"retry.delays", &TakeDelays},
    {"retry.jitter", &TakeJitter},
    {"retry.max_attempts", &TakeMaxAttempts},
    {"history", &TakeHistory},
    {"lease_duration", &TakeLeaseDuration},
    {"payload_bytes_max", &TakePayloadBytesMax},
}};

// "retry" names all of its fields.
bool Names(absl::string_view path, const Setting& setting) {
  return path == setting.path || (path == "retry" && setting.path.substr(0, 6) == "retry.");
}

bool IsNamed(const SettingPaths& paths, const Setting& setting) {
  if (paths.empty()) return true;
  for (const std::string& path : paths) {
    if (Names(path, setting)) return true;
  }
  return false;
}

bool IsKnown(absl::string_view path) {
  for (const Setting& setting : kSettings) {
    if (Names(path, setting)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<SettingPaths> ReadMask(const google::protobuf::FieldMask& mask) {
  SettingPaths paths;
  bool all = false;
  for (const std::string& path : mask.paths()) {
    if (path != "*" && !IsKnown(path)) {
      return InvalidField({"update_mask"},
                          "must name fields of QueueSettings, for example \"retry\", "
                          "\"retry.max_attempts\" or \"history\"");
    }
    all = all || path == "*";
    paths.push_back(path);
  }
  return all ? SettingPaths() : paths;
}

absl::StatusOr<model::QueueSettings> ChangeSettings(const model::QueueSettings& base,
                                                    const v1::QueueSettings& wire,
                                                    const SettingPaths& paths) {
  model::QueueSettings changed = base;
  for (const Setting& setting : kSettings) {
    if (IsNamed(paths, setting)) RETURN_IF_ERROR(setting.take(wire, &changed));
  }
  RETURN_IF_ERROR(model::CheckSettings(changed, kPrefix));
  return changed;
}

void WriteSettings(const model::QueueSettings& settings, v1::QueueSettings* wire) {
  v1::RetryPolicy* retry = wire->mutable_retry();
  retry->set_kind(static_cast<v1::RetryKind>(settings.retry.kind));
  WriteDuration(settings.retry.base_delay, retry->mutable_base_delay());
  retry->set_factor(settings.retry.factor);
  WriteDuration(settings.retry.max_delay, retry->mutable_max_delay());
  for (const absl::Duration delay : settings.retry.delays) {
    WriteDuration(delay, retry->add_delays());
  }
  retry->set_jitter(settings.retry.jitter);
  retry->set_max_attempts(settings.retry.max_attempts);
  wire->set_history(static_cast<v1::HistoryPolicy>(settings.history));
  WriteDuration(settings.lease_duration, wire->mutable_lease_duration());
  wire->set_payload_bytes_max(settings.payload_bytes_max);
}

}  // namespace skiplane::rpc
