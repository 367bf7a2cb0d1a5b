// Structured logs: one line per event on standard error, "time level event key=value …", or a JSON
// object with the members time, level, event and the keys, whose values are texts.
//
// Log(Level::kWarn, "lease_lost", {{"queue", name}, {"tasks", absl::StrCat(n)}}).
// Values are quoted and escaped where needed. Never log payloads, keys, headers, tokens, passwords
// or connection strings. Thread-safe; lines are written by a background thread in order.
#pragma once

#include <atomic>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace skiplane::base {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

using LogField = std::pair<absl::string_view, std::string>;
using LogFields = std::initializer_list<LogField>;

enum class LogFormat { kText, kJson };

namespace internal {
inline constinit std::atomic<LogLevel> log_level = LogLevel::kInfo;
}  // namespace internal

// Whether a line of this level would be written.
inline bool IsLogged(LogLevel level) {
  return level >= internal::log_level.load(std::memory_order_relaxed);
}

void Log(LogLevel level, absl::string_view event, LogFields fields = {});
void LogAll(LogLevel level, absl::string_view event, absl::Span<const LogField> fields);

// Lines below `level` are dropped. Default: kInfo.
void SetLogLevel(LogLevel level);

// Of the lines from now on. Default: kText.
void SetLogFormat(LogFormat format);

// "debug", "info", "warn" or "error".
absl::string_view LogLevelName(LogLevel level);

// The reverse; false if `text` is none of them.
bool ParseLogLevel(absl::string_view text, LogLevel* level);

// Writes out what is queued. Call it before the process ends.
void FlushLog();

}  // namespace skiplane::base
