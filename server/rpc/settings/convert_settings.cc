#include "server/rpc/settings/convert_settings.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/rpc/call/field.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

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
  ASSIGN_OR_RETURN(const auto kind, ReadEnum(wire.retry().kind(), {"settings.retry.kind"}));
  to->retry.kind = kind.value_or(model::RetryPolicy().kind);
  return absl::OkStatus();
}

absl::Status TakeBaseDelay(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(to->retry.base_delay,
                   DurationOr(wire.retry().has_base_delay(), wire.retry().base_delay(),
                              model::RetryPolicy().base_delay, "settings.retry.base_delay"));
  return absl::OkStatus();
}

absl::Status TakeFactor(const Wire& wire, Settings* to) {
  to->retry.factor =
      wire.retry().has_factor() ? wire.retry().factor() : model::RetryPolicy().factor;
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
  to->retry.jitter =
      wire.retry().has_jitter() ? wire.retry().jitter() : model::RetryPolicy().jitter;
  return absl::OkStatus();
}

absl::Status TakeMaxAttempts(const Wire& wire, Settings* to) {
  to->retry.max_attempts = wire.retry().has_max_attempts() ? wire.retry().max_attempts()
                                                           : model::RetryPolicy().max_attempts;
  return absl::OkStatus();
}

absl::Status TakeHistory(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(const auto history, ReadEnum(wire.history(), {"settings.history"}));
  to->history = history.value_or(Settings().history);
  return absl::OkStatus();
}

absl::Status TakeLeaseDuration(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(to->lease_duration,
                   DurationOr(wire.has_lease_duration(), wire.lease_duration(),
                              Settings().lease_duration, "settings.lease_duration"));
  return absl::OkStatus();
}

absl::Status TakePayloadBytesMax(const Wire& wire, Settings* to) {
  to->max_payload_bytes =
      wire.has_max_payload_bytes() ? wire.max_payload_bytes() : Settings().max_payload_bytes;
  return absl::OkStatus();
}

absl::Status TakeMaxRunDuration(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(to->max_run_duration,
                   DurationOr(wire.has_max_run_duration(), wire.max_run_duration(),
                              Settings().max_run_duration, "settings.max_run_duration"));
  return absl::OkStatus();
}

absl::Status TakePeriodicHistory(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(const auto history,
                   ReadEnum(wire.periodic_history(), {"settings.periodic_history"}));
  to->periodic_history = history.value_or(Settings().periodic_history);
  return absl::OkStatus();
}

absl::Status TakeHistoryDays(const Wire& wire, Settings* to) {
  to->history_days = wire.has_history_days() ? wire.history_days() : Settings().history_days;
  return absl::OkStatus();
}

absl::Status TakeFailedDays(const Wire& wire, Settings* to) {
  to->failed_days = wire.has_failed_days() ? wire.failed_days() : Settings().failed_days;
  return absl::OkStatus();
}

absl::Status TakePacking(const Wire& wire, Settings* to) {
  ASSIGN_OR_RETURN(const auto packing, ReadEnum(wire.packing(), {"settings.packing"}));
  to->packing = packing.value_or(Settings().packing);
  return absl::OkStatus();
}

absl::Status TakeKeepPayloads(const Wire& wire, Settings* to) {
  to->keep_payloads = wire.has_keep_payloads() ? wire.keep_payloads() : Settings().keep_payloads;
  return absl::OkStatus();
}

absl::Status TakeKeepResults(const Wire& wire, Settings* to) {
  to->keep_results = wire.has_keep_results() ? wire.keep_results() : Settings().keep_results;
  return absl::OkStatus();
}

absl::Status TakeDepthMax(const Wire& wire, Settings* to) {
  to->limits.max_depth.reset();
  if (wire.has_max_depth()) to->limits.max_depth = wire.max_depth();
  return absl::OkStatus();
}

absl::Status TakeBytesMax(const Wire& wire, Settings* to) {
  to->limits.max_bytes.reset();
  if (wire.has_max_bytes()) to->limits.max_bytes = wire.max_bytes();
  return absl::OkStatus();
}

absl::Status TakeEnqueueRateMax(const Wire& wire, Settings* to) {
  to->limits.max_enqueue_rate.reset();
  if (wire.has_max_enqueue_rate()) to->limits.max_enqueue_rate = wire.max_enqueue_rate();
  return absl::OkStatus();
}

absl::StatusOr<model::RetryPolicy> ReadRetry(const v1::RetryPolicy& retry) {
  Wire wire;
  *wire.mutable_retry() = retry;
  Settings settings;
  for (const auto take : {&TakeKind, &TakeBaseDelay, &TakeFactor, &TakeMaxDelay, &TakeDelays,
                          &TakeJitter, &TakeMaxAttempts}) {
    RETURN_IF_ERROR(take(wire, &settings));
  }
  return settings.retry;
}

absl::Status TakeStages(const Wire& wire, Settings* to) {
  constexpr absl::string_view kStages = "settings.stages";
  std::vector<model::Stage> stages;
  for (const v1::Stage& stage : wire.stages()) {
    const size_t i = stages.size();
    model::Stage& out = stages.emplace_back();
    out.name = stage.name();
    if (stage.has_retry()) {
      ASSIGN_OR_RETURN(out.retry, ReadRetry(stage.retry()));
    }
    if (stage.has_lease_duration()) {
      ASSIGN_OR_RETURN(out.lease_duration, ReadDuration(stage.lease_duration(), kAnyDuration,
                                                        {"lease_duration", kStages, i}));
    }
    if (stage.has_max_run_duration()) {
      ASSIGN_OR_RETURN(out.max_run_duration, ReadDuration(stage.max_run_duration(), kAnyDuration,
                                                          {"max_run_duration", kStages, i}));
    }
  }
  to->stages = std::move(stages);
  return absl::OkStatus();
}

struct Setting {
  absl::string_view path;
  absl::Status (*take)(const Wire&, Settings*);
};

constexpr std::array<Setting, 21> kSettings = {{
    {"retry.kind", &TakeKind},
    {"retry.base_delay", &TakeBaseDelay},
    {"retry.factor", &TakeFactor},
    {"retry.max_delay", &TakeMaxDelay},
    {"retry.delays", &TakeDelays},
    {"retry.jitter", &TakeJitter},
    {"retry.max_attempts", &TakeMaxAttempts},
    {"history", &TakeHistory},
    {"lease_duration", &TakeLeaseDuration},
    {"max_payload_bytes", &TakePayloadBytesMax},
    {"stages", &TakeStages},
    {"max_run_duration", &TakeMaxRunDuration},
    {"periodic_history", &TakePeriodicHistory},
    {"history_days", &TakeHistoryDays},
    {"failed_days", &TakeFailedDays},
    {"keep_payloads", &TakeKeepPayloads},
    {"keep_results", &TakeKeepResults},
    {"max_depth", &TakeDepthMax},
    {"max_bytes", &TakeBytesMax},
    {"max_enqueue_rate", &TakeEnqueueRateMax},
    {"packing", &TakePacking},
}};

// "retry" names all of its fields.
bool Names(absl::string_view path, const Setting& setting) {
  return path == setting.path || (path == "retry" && setting.path.substr(0, 6) == "retry.");
}

bool IsNamed(const SettingPaths& paths, const Setting& setting) {
  for (const std::string& path : paths) {
    if (Names(path, setting)) return true;
  }
  return false;
}

void WriteRetry(const model::RetryPolicy& retry, v1::RetryPolicy* wire) {
  wire->set_kind(ToWire(retry.kind));
  WriteDuration(retry.base_delay, wire->mutable_base_delay());
  wire->set_factor(retry.factor);
  WriteDuration(retry.max_delay, wire->mutable_max_delay());
  for (const absl::Duration delay : retry.delays) WriteDuration(delay, wire->add_delays());
  wire->set_jitter(retry.jitter);
  wire->set_max_attempts(retry.max_attempts);
}

void WriteStage(const model::Stage& stage, v1::Stage* wire) {
  wire->set_name(stage.name);
  if (stage.retry) WriteRetry(*stage.retry, wire->mutable_retry());
  if (stage.lease_duration) WriteDuration(*stage.lease_duration, wire->mutable_lease_duration());
  if (stage.max_run_duration) {
    WriteDuration(*stage.max_run_duration, wire->mutable_max_run_duration());
  }
}

}  // namespace

absl::StatusOr<model::QueueSettings> ChangeSettings(const model::QueueSettings& base,
                                                    const v1::QueueSettings& wire,
                                                    const SettingPaths& paths) {
  model::QueueSettings changed = base;
  for (const Setting& setting : kSettings) {
    if (IsNamed(paths, setting)) RETURN_IF_ERROR(setting.take(wire, &changed));
  }
  RETURN_IF_ERROR(model::CheckSettings(changed, kPrefix));
  RETURN_IF_ERROR(model::CheckChange(base, changed, kPrefix));
  return changed;
}

void WriteSettings(const model::QueueSettings& settings, v1::QueueSettings* wire) {
  WriteRetry(settings.retry, wire->mutable_retry());
  wire->set_history(ToWire(settings.history));
  WriteDuration(settings.lease_duration, wire->mutable_lease_duration());
  wire->set_max_payload_bytes(settings.max_payload_bytes);
  for (const model::Stage& stage : settings.stages) WriteStage(stage, wire->add_stages());
  WriteDuration(settings.max_run_duration, wire->mutable_max_run_duration());
  wire->set_periodic_history(ToWire(settings.periodic_history));
  wire->set_history_days(settings.history_days);
  wire->set_failed_days(settings.failed_days);
  wire->set_keep_payloads(settings.keep_payloads);
  wire->set_keep_results(settings.keep_results);
  const model::QueueLimits& limits = settings.limits;
  if (limits.max_depth) wire->set_max_depth(*limits.max_depth);
  if (limits.max_bytes) wire->set_max_bytes(*limits.max_bytes);
  if (limits.max_enqueue_rate) wire->set_max_enqueue_rate(*limits.max_enqueue_rate);
  wire->set_packing(ToWire(settings.packing));
}

}  // namespace skiplane::rpc
