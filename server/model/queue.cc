#include "server/model/queue.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::model {
namespace {

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
}

bool IsName(absl::string_view name, size_t bytes_max) {
  if (name.empty() || name.size() > bytes_max) return false;
  if (!absl::ascii_isalnum(static_cast<unsigned char>(name.front()))) return false;
  for (const char c : name) {
    if (!IsNameCharacter(c)) return false;
  }
  return true;
}

// Written so that NaN is outside of every range.
template <typename T>
bool IsWithin(const T& value, const T& least, const T& most) {
  return value >= least && value <= most;
}

absl::Status CheckDuration(absl::Duration value, absl::Duration least, absl::Duration most,
                           const std::string& field) {
  if (IsWithin(value, least, most)) return absl::OkStatus();
  return base::InvalidField(field, absl::StrCat("must be ", absl::FormatDuration(least), " to ",
                                                absl::FormatDuration(most)));
}

template <typename T>
absl::Status CheckNumber(T value, T least, T most, const std::string& field) {
  if (IsWithin(value, least, most)) return absl::OkStatus();
  return base::InvalidField(field, absl::StrCat("must be ", least, " to ", most));
}

absl::Status CheckTable(const RetryPolicy& retry, absl::string_view prefix) {
  const std::string field = absl::StrCat(prefix, "delays");
  const size_t least = retry.kind == RetryKind::kTable ? 1 : 0;
  if (!IsWithin(retry.delays.size(), least, kRetryTableMax)) {
    return base::InvalidField(
        field, absl::StrCat("must have ", least, " to ", kRetryTableMax, " entries"));
  }
  for (size_t i = 0; i < retry.delays.size(); ++i) {
    RETURN_IF_ERROR(CheckDuration(retry.delays[i], absl::ZeroDuration(), kRetryDelayMax,
                                  absl::StrCat(field, "[", i, "]")));
  }
  return absl::OkStatus();
}

absl::Status CheckRetry(const RetryPolicy& retry, absl::string_view prefix) {
  const auto path = [prefix](absl::string_view name) { return absl::StrCat(prefix, name); };
  if (!IsWithin(retry.kind, RetryKind::kLinear, RetryKind::kTable)) {
    return base::InvalidField(path("kind"), "must be LINEAR, FIXED, EXPONENTIAL or TABLE");
  }
  RETURN_IF_ERROR(CheckDuration(retry.base_delay, absl::ZeroDuration(), kRetryDelayMax,
                                path("base_delay")));
  RETURN_IF_ERROR(CheckNumber(retry.factor, 1.0, kRetryFactorMax, path("factor")));
  RETURN_IF_ERROR(
      CheckDuration(retry.max_delay, absl::Seconds(1), kRetryDelayMax, path("max_delay")));
  RETURN_IF_ERROR(CheckTable(retry, prefix));
  RETURN_IF_ERROR(CheckNumber(retry.jitter, 0.0, kRetryJitterMax, path("jitter")));
  return CheckNumber(retry.max_attempts, 1, kMaxAttemptsMax, path("max_attempts"));
}

absl::Status CheckHistory(HistoryPolicy policy, const std::string& field) {
  if (IsWithin(policy, HistoryPolicy::kAll, HistoryPolicy::kNone)) return absl::OkStatus();
  return base::InvalidField(field, "must be ALL, FAILURES or NONE");
}

absl::Status CheckMaxRunDuration(absl::Duration value, const std::string& field) {
  return CheckDuration(value, kMaxRunDurationMin, kMaxRunDurationMax, field);
}

absl::Status CheckStage(const QueueSettings& settings, size_t index, const std::string& prefix) {
  const Stage& stage = settings.stages[index];
  const auto path = [&prefix](absl::string_view name) { return absl::StrCat(prefix, name); };
  if (!IsName(stage.name, kStageNameBytesMax)) {
    return base::InvalidField(
        path("name"), absl::StrCat("must be 1 to ", kStageNameBytesMax,
                                   " of A-Z a-z 0-9 . _ - and begin with a letter or digit"));
  }
  if (settings.FindStage(stage.name) != static_cast<int16_t>(index)) {
    return base::InvalidField(path("name"), "is listed twice");
  }
  if (stage.retry) RETURN_IF_ERROR(CheckRetry(*stage.retry, path("retry.")));
  if (stage.lease_duration) {
    RETURN_IF_ERROR(CheckDuration(*stage.lease_duration, kLeaseDurationMin, kLeaseDurationMax,
                                  path("lease_duration")));
  }
  if (!stage.max_run_duration) return absl::OkStatus();
  return CheckMaxRunDuration(*stage.max_run_duration, path("max_run_duration"));
}

absl::Status CheckStages(const QueueSettings& settings, absl::string_view prefix) {
  const std::string field = absl::StrCat(prefix, "stages");
  if (settings.stages.size() > kStagesMax) {
    return base::InvalidField(field, absl::StrCat("must have at most ", kStagesMax, " entries"));
  }
  for (size_t i = 0; i < settings.stages.size(); ++i) {
    RETURN_IF_ERROR(CheckStage(settings, i, absl::StrCat(field, "[", i, "].")));
  }
  return absl::OkStatus();
}

absl::Status CheckRetention(const QueueSettings& settings, absl::string_view prefix) {
  RETURN_IF_ERROR(
      CheckHistory(settings.periodic_history, absl::StrCat(prefix, "periodic_history")));
  RETURN_IF_ERROR(CheckNumber(settings.history_days, 1, kRetentionDaysMax,
                              absl::StrCat(prefix, "history_days")));
  return CheckNumber(settings.failed_days, 1, kRetentionDaysMax,
                     absl::StrCat(prefix, "failed_days"));
}

}  // namespace

const RetryPolicy& QueueSettings::RetryOf(int16_t stage) const {
  const auto index = static_cast<size_t>(stage);
  return index < stages.size() && stages[index].retry ? *stages[index].retry : retry;
}

absl::Duration QueueSettings::LeaseDurationOf(int16_t stage) const {
  const auto index = static_cast<size_t>(stage);
  if (index >= stages.size()) return lease_duration;
  return stages[index].lease_duration.value_or(lease_duration);
}

absl::Duration QueueSettings::MaxRunDurationOf(int16_t stage) const {
  const auto index = static_cast<size_t>(stage);
  if (index >= stages.size()) return max_run_duration;
  return stages[index].max_run_duration.value_or(max_run_duration);
}

std::string QueueSettings::StageName(int16_t stage) const {
  const auto index = static_cast<size_t>(stage);
  return index < stages.size() ? stages[index].name : std::string();
}

std::optional<int16_t> QueueSettings::FindStage(absl::string_view name) const {
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name == name) return static_cast<int16_t>(i);
  }
  return std::nullopt;
}

QueueCounts& QueueCounts::operator+=(const QueueCounts& other) {
  scheduled += other.scheduled;
  ready += other.ready;
  leased += other.leased;
  succeeded += other.succeeded;
  failed += other.failed;
  cancelled += other.cancelled;
  moved += other.moved;
  return *this;
}

absl::Status CheckChange(const QueueSettings& from, const QueueSettings& to,
                         absl::string_view prefix) {
  if (to.stages.size() < from.stages.size()) {
    return base::InvalidField(absl::StrCat(prefix, "stages"),
                              "stages may be renamed and added at the end, but not removed");
  }
  for (size_t i = 0; i < to.stages.size(); ++i) {
    const std::optional<int16_t> place = from.FindStage(to.stages[i].name);
    if (!place.has_value() || static_cast<size_t>(*place) == i) continue;
    return base::InvalidField(
        absl::StrCat(prefix, "stages[", i, "].name"),
        absl::StrCat("is the name of stage ", *place + 1,
                     " now: a task keeps the number of its stage, so stages keep their places. "
                     "Add new ones at the end"));
  }
  return absl::OkStatus();
}

absl::Status CheckQueueName(absl::string_view name, absl::string_view field) {
  if (IsName(name, kQueueNameBytesMax)) return absl::OkStatus();
  return base::InvalidField(field,
                            absl::StrCat("must be 1 to ", kQueueNameBytesMax,
                                         " of A-Z a-z 0-9 . _ - and begin with a letter or digit"));
}

namespace {

absl::Status CheckLimit(const std::optional<int64_t>& limit, int64_t max, absl::string_view field) {
  if (!limit || (*limit >= 1 && *limit <= max)) return absl::OkStatus();
  return base::InvalidField(field, absl::StrCat("is ", *limit, "; must be 1 to ", max));
}

absl::Status CheckLimits(const QueueLimits& limits, absl::string_view prefix) {
  RETURN_IF_ERROR(
      CheckLimit(limits.max_depth, kQueueDepthMax, absl::StrCat(prefix, "max_depth")));
  RETURN_IF_ERROR(
      CheckLimit(limits.max_bytes, kQueueBytesMax, absl::StrCat(prefix, "max_bytes")));
  const std::optional<double>& rate = limits.max_enqueue_rate;
  if (!rate || (*rate >= kEnqueueRateMin && *rate <= kEnqueueRateMax)) return absl::OkStatus();
  return base::InvalidField(absl::StrCat(prefix, "max_enqueue_rate"),
                            absl::StrCat("is ", *rate, "; must be ", kEnqueueRateMin, " to ",
                                         static_cast<int64_t>(kEnqueueRateMax)));
}

}  // namespace

absl::Status CheckSettings(const QueueSettings& settings, absl::string_view prefix) {
  RETURN_IF_ERROR(CheckRetry(settings.retry, absl::StrCat(prefix, "retry.")));
  RETURN_IF_ERROR(CheckHistory(settings.history, absl::StrCat(prefix, "history")));
  RETURN_IF_ERROR(CheckRetention(settings, prefix));
  RETURN_IF_ERROR(CheckStages(settings, prefix));
  RETURN_IF_ERROR(CheckLimits(settings.limits, prefix));
  RETURN_IF_ERROR(CheckMaxRunDuration(settings.max_run_duration,
                                      absl::StrCat(prefix, "max_run_duration")));
  RETURN_IF_ERROR(CheckDuration(settings.lease_duration, kLeaseDurationMin, kLeaseDurationMax,
                                absl::StrCat(prefix, "lease_duration")));
  return CheckNumber(settings.max_payload_bytes, 1, kPayloadBytesMax,
                     absl::StrCat(prefix, "max_payload_bytes"));
}

}  // namespace skiplane::model
