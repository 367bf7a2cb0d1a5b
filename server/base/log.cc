#include "server/base/log.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "server/base/mutex.h"
#include "spdlog/async_logger.h"
#include "spdlog/details/thread_pool.h"
#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/base_sink.h"

namespace skiplane::base {
namespace {

constexpr size_t kQueuedLinesMax = 8192;
// A reader of standard error that stands still must not keep the process from ending.
constexpr std::chrono::seconds kFlushWaitMax(2);

class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  uint64_t Flushes() {
    MutexLock lock(flush_mutex_);
    return flushes_;
  }

  void WaitForFlushAfter(uint64_t before) {
    const auto deadline = std::chrono::steady_clock::now() + kFlushWaitMax;
    MutexLock lock(flush_mutex_);
    while (flushes_ == before && flushed_.WaitUntil(flush_mutex_, deadline)) {
    }
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

  void flush_() override {
    std::fflush(stderr);
    MutexLock lock(flush_mutex_);
    ++flushes_;
    flushed_.NotifyAll();
  }

  Mutex flush_mutex_;
  CondVar flushed_;
  uint64_t flushes_ ABSL_GUARDED_BY(flush_mutex_) = 0;
};

// Of whole lines; %v is what Log() makes.
constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%eZ %v";
constexpr char kJsonPattern[] = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})";

struct Logger {
  Logger() {
    SetPattern(kTextPattern);
    logger->set_level(spdlog::level::trace);
  }

  void SetPattern(const char* pattern) const {
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        pattern, spdlog::pattern_time_type::utc));
  }

  std::atomic<LogFormat> format{LogFormat::kText};
  std::shared_ptr<StderrSink> sink = std::make_shared<StderrSink>();
  std::shared_ptr<spdlog::details::thread_pool> pool =
      std::make_shared<spdlog::details::thread_pool>(kQueuedLinesMax, 1);
  // The oldest lines give way when nobody reads them: logging never blocks a call.
  std::shared_ptr<spdlog::async_logger> logger = std::make_shared<spdlog::async_logger>(
      "skiplane", sink, pool, spdlog::async_overflow_policy::overrun_oldest);
  Mutex flushing;
};

// Never destroyed: threads that outlive main may still log.
Logger& TheLogger() {
  static Logger* const logger = new Logger;
  return *logger;
}

constexpr absl::string_view kLevelNames[] = {"debug", "info", "warn", "error"};

bool NeedsQuotes(absl::string_view value) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (!absl::ascii_isgraph(byte) || c == '"' || c == '=' || c == '\\') return true;
  }
  return value.empty();
}

void AppendField(absl::string_view key, absl::string_view value, std::string* line) {
  if (NeedsQuotes(value)) {
    // Within double quotes a single one needs no escape.
    const std::string escaped = absl::StrReplaceAll(absl::CHexEscape(value), {{"\\'", "'"}});
    absl::StrAppend(line, " ", key, "=\"", escaped, "\"");
  } else {
    absl::StrAppend(line, " ", key, "=", value);
  }
}

std::string TextLine(LogLevel level, absl::string_view event, absl::Span<const LogField> fields) {
  std::string line = absl::StrCat(LogLevelName(level), " ", event);
  for (const auto& [key, value] : fields) AppendField(key, value, &line);
  return line;
}

// What is not UTF-8 is replaced. Without the braces, as the time goes before it.
std::string JsonLine(LogLevel level, absl::string_view event, absl::Span<const LogField> fields) {
  nlohmann::ordered_json line = {{"level", std::string(LogLevelName(level))},
                                 {"event", std::string(event)}};
  for (const auto& [key, value] : fields) line[std::string(key)] = value;
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return text.substr(1, text.size() - 2);
}

}  // namespace

absl::string_view LogLevelName(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

void Log(LogLevel level, absl::string_view event, LogFields fields) {
  LogAll(level, event, fields);
}

void LogAll(LogLevel level, absl::string_view event, absl::Span<const LogField> fields) {
  if (!IsLogged(level)) return;
  Logger& logger = TheLogger();
  const bool is_json = logger.format.load(std::memory_order_relaxed) == LogFormat::kJson;
  const std::string line =
      is_json ? JsonLine(level, event, fields) : TextLine(level, event, fields);
  logger.logger->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

void SetLogLevel(LogLevel level) {
  internal::log_level.store(level, std::memory_order_relaxed);
}

void SetLogFormat(LogFormat format) {
  FlushLog();  // what is queued has the form of before
  Logger& logger = TheLogger();
  logger.SetPattern(format == LogFormat::kJson ? kJsonPattern : kTextPattern);
  logger.format.store(format, std::memory_order_relaxed);
}

bool ParseLogLevel(absl::string_view text, LogLevel* level) {
  for (const LogLevel known :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    if (text != LogLevelName(known)) continue;
    *level = known;
    return true;
  }
  return false;
}

void FlushLog() {
  Logger& logger = TheLogger();
  MutexLock lock(logger.flushing);
  const uint64_t before = logger.sink->Flushes();
  logger.logger->flush();
  logger.sink->WaitForFlushAfter(before);
}

}  // namespace skiplane::base
