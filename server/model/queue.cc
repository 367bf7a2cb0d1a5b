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

bool IsQueueName(absl::string_view name) {
  if (name.empty() || name.size() > kQueueNameBytesMax) return false;
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

}  // namespace

absl::Status CheckQueueName(absl::string_view name, absl::string_view field) {
  if (IsQueueName(name)) return absl::OkStatus();
  return base::InvalidField(field,
                            absl::StrCat("must be 1 to ", kQueueNameBytesMax,
                                         " of A-Z a-z 0-9 . _ - and begin with a letter or digit"));
}

absl::Status CheckSettings(const QueueSettings& settings, absl::string_view prefix) {
  RETURN_IF_ERROR(CheckRetry(settings.retry, absl::StrCat(prefix, "retry.")));
  if (!IsWithin(settings.history, HistoryPolicy::kAll, HistoryPolicy::kNone)) {
    return base::InvalidField(absl::StrCat(prefix, "history"), "must be ALL, FAILURES or NONE");
  }
  RETURN_IF_ERROR(CheckDuration(settings.lease_duration, kLeaseDurationMin, kLeaseDurationMax,
                                absl::StrCat(prefix, "lease_duration")));
  return CheckNumber(settings.payload_bytes_max, 1, kPayloadBytesMax,
                     absl::StrCat(prefix, "payload_bytes_max"));
}

}  // namespace skiplane::model
