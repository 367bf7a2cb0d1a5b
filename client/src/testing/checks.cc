#include "client/src/testing/checks.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/src/status.h"

namespace skiplane::internal {
namespace {

constexpr absl::Duration kStartAheadMax = absl::Hours(24 * 3653);
constexpr absl::Duration kDelayMax = absl::Hours(24);
constexpr size_t kPayloadBytesMax = size_t{1} << 20;
constexpr size_t kKeyBytesShown = 64;

// The first refusal of several checks.
class Checks {
 public:
  explicit Checks(std::string at) : at_(std::move(at)) {}

  void Require(bool holds, absl::string_view field, absl::string_view what) {
    if (status_.ok() && !holds) status_ = InvalidField(absl::StrCat(at_, field), what);
  }
  void Bytes(const std::string& bytes, size_t most, absl::string_view field) {
    if (bytes.size() > most) {
      Require(false, field, absl::StrCat("has ", bytes.size(), " bytes, at most ", most));
    }
  }
  void Text(const std::string& text, size_t most, absl::string_view field) {
    if (status_.ok()) status_ = CheckText(text, most, absl::StrCat(at_, field));
  }
  void Headers(const std::map<std::string, std::string>& headers) {
    Require(headers.size() <= 64, "headers", "has more than 64 items");
    for (const auto& [key, value] : headers) {
      const std::string field =
          absl::StrCat("headers[\"", absl::Utf8SafeCEscape(key.substr(0, kKeyBytesShown)), "\"]");
      Require(!key.empty(), field, "has no key");
      Text(key, 128, field);
      Text(value, 4096, field);
    }
  }
  template <typename Value>
  void Range(const Value& value, const Value& least, const Value& most, absl::string_view field) {
    Require(value >= least && value <= most, field, "is out of its range");
  }
  const absl::Status& status() const { return status_; }

 private:
  const std::string at_;
  absl::Status status_;
};

void CheckContent(const NewTask& task, Checks& checks) {
  checks.Bytes(task.payload, kPayloadBytesMax, "payload");
  checks.Text(task.content_type, 255, "content_type");
  checks.Headers(task.headers);
  checks.Range(task.priority, -32768, 32767, "priority");
  if (task.max_attempts) checks.Range(*task.max_attempts, 1, 1000, "max_attempts");
}

void CheckKey(const NewTask& task, Checks& checks) {
  const KeyPolicy policy = task.key_policy;
  checks.Text(task.key, 255, "key");
  checks.Require(!task.key.empty() || policy == KeyPolicy::kKeep, "key_policy",
                 "must be unset without a key");
  checks.Require(!task.version || *task.version >= 1, "version", "must be 1 or more");
  checks.Require(!task.version || !task.key.empty(), "version", "must be unset without a key");
  checks.Require(task.version || policy != KeyPolicy::kRerunIfNewer, "version",
                 "must be set with RERUN_IF_NEWER");
  checks.Require(!task.version || policy != KeyPolicy::kSchedule, "version",
                 "must be unset with SCHEDULE");
  checks.Require(task.period || !task.cron.empty() || policy != KeyPolicy::kSchedule, "key_policy",
                 "must not be SCHEDULE without period or cron");
}

void CheckTimes(const NewTask& task, absl::Time now, Checks& checks) {
  checks.Require(!task.schedule_time || !task.delay, "delay", "must be unset with schedule_time");
  checks.Require(!task.schedule_time || *task.schedule_time <= now + kStartAheadMax,
                 "schedule_time", "is more than 10 years ahead");
  if (task.delay) checks.Range(*task.delay, absl::ZeroDuration(), kStartAheadMax, "delay");
  checks.Require(!task.period || task.cron.empty(), "cron", "must be unset with period");
  if (task.period) checks.Range(*task.period, absl::Seconds(1), kStartAheadMax, "period");
  checks.Text(task.cron, 255, "cron");
  checks.Require(task.time_zone.empty() || !task.cron.empty(), "time_zone",
                 "must be unset without cron");
  checks.Text(task.time_zone, 64, "time_zone");
  checks.Require(task.catch_up == CatchUp::kSkipMissed || task.period || !task.cron.empty(),
                 "catch_up", "must be unset without period or cron");
}

void CheckRetry(const RetryPolicy& retry, const std::string& at, Checks& checks) {
  const absl::Duration none = absl::ZeroDuration();
  checks.Range(retry.base_delay, none, kDelayMax, at + "base_delay");
  checks.Range(retry.factor, 1.0, 10.0, at + "factor");
  checks.Range(retry.max_delay, absl::Seconds(1), kDelayMax, at + "max_delay");
  checks.Range(retry.jitter, 0.0, 0.5, at + "jitter");
  checks.Range(retry.max_attempts, 1, 1000, at + "max_attempts");
  checks.Require(retry.delays.size() <= 100, at + "delays", "has more than 100 items");
  checks.Require(retry.kind != RetryKind::kTable || !retry.delays.empty(), at + "delays",
                 "must be set with TABLE");
  for (const absl::Duration delay : retry.delays) {
    checks.Range(delay, none, kDelayMax, at + "delays");
  }
}

}  // namespace

absl::Status Refuse(absl::StatusCode code, absl::string_view reason, absl::string_view message,
                    absl::string_view field) {
  v1::Refusal refusal;
  // The two enumerations share gRPC's canonical numbers.
  refusal.set_code(static_cast<int>(code));
  refusal.set_reason(std::string(reason));
  refusal.set_message(std::string(message));
  refusal.set_field(std::string(field));
  return FromProto(refusal);
}

absl::Status InvalidField(absl::string_view field, absl::string_view what) {
  return Refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                absl::StrCat(field, " ", what), field);
}

absl::Status NotUtf8() {
  return Refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD", "a text is not UTF-8");
}

absl::Status CheckText(absl::string_view text, size_t bytes_max, absl::string_view field) {
  if (text.size() > bytes_max) {
    return InvalidField(field, absl::StrCat("has ", text.size(), " bytes, at most ", bytes_max));
  }
  if (text.find('\0') == absl::string_view::npos) return absl::OkStatus();
  return InvalidField(field, "has a NUL byte");
}

absl::Status CheckName(absl::string_view name, size_t bytes_max, absl::string_view field) {
  const auto is_good = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= bytes_max && std::all_of(name.begin(), name.end(), is_good) &&
      absl::ascii_isalnum(static_cast<unsigned char>(name[0]))) {
    return absl::OkStatus();
  }
  return InvalidField(field, "must be a name, [A-Za-z0-9][A-Za-z0-9._-]*");
}

absl::Status CheckTask(const NewTask& task, absl::Time now, const std::string& at) {
  Checks checks(at);
  CheckContent(task, checks);
  CheckKey(task, checks);
  CheckTimes(task, now, checks);
  checks.Text(task.stage, 64, "stage");
  return checks.status();
}

absl::Status CheckContent(const NextPayload& content, const std::string& at) {
  Checks checks(at);
  checks.Bytes(content.payload, kPayloadBytesMax, "payload");
  checks.Text(content.content_type, 255, "content_type");
  checks.Headers(content.headers);
  return checks.status();
}

absl::Status CheckSettings(const QueueSettings& settings) {
  Checks checks("settings.");
  CheckRetry(settings.retry, "retry.", checks);
  checks.Range(settings.lease_duration, absl::Seconds(1), absl::Hours(12), "lease_duration");
  checks.Range(settings.max_payload_bytes, 1, 1 << 20, "max_payload_bytes");
  checks.Range(settings.max_run_duration, absl::Seconds(1), absl::Hours(24 * 30),
               "max_run_duration");
  checks.Range(settings.history_days, 1, 400, "history_days");
  checks.Range(settings.failed_days, 1, 400, "failed_days");
  checks.Require(!settings.max_depth || *settings.max_depth >= 1, "max_depth", "must be above 0");
  checks.Require(settings.stages.size() <= 100, "stages", "has more than 100 items");
  std::set<std::string> names;
  for (const Stage& stage : settings.stages) {
    checks.Require(CheckName(stage.name, 64, "name").ok() && names.insert(stage.name).second,
                   "stages", "has a name that is none, or stands twice");
    if (stage.retry) CheckRetry(*stage.retry, "stages.retry.", checks);
    if (stage.max_run_duration) {
      checks.Range(*stage.max_run_duration, absl::Seconds(1), absl::Hours(24 * 30),
                   "stages.max_run_duration");
    }
  }
  return checks.status();
}

}  // namespace skiplane::internal
