#include "client/cli/work/attempt_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/steady_now.h"

namespace skiplane::cli {
namespace {

// A worker holds 1,000 tasks at most.
constexpr size_t kEarlyEndsMax = 1000;

absl::string_view WordFor(AttemptEnd end) {
  switch (end) {
    case AttemptEnd::kDone: return "done";
    case AttemptEnd::kRetried: return "retried";
    case AttemptEnd::kFailed: return "failed";
    case AttemptEnd::kReleased: return "released";
    case AttemptEnd::kCancelled: return "cancelled";
    case AttemptEnd::kLost: break;
  }
  return "lost";
}

// A value that has a place of its own on the line, in quotes if it needs them.
std::string Value(const std::string& text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '"' && c != '=' && c != '\\';
  });
  return is_plain && !text.empty() ? text : absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

std::string Describe(const LeasedTask& task) {
  std::string text = absl::StrCat("task=", task.task_id, " queue=", Value(task.queue));
  if (!task.stage.empty()) absl::StrAppend(&text, " stage=", Value(task.stage));
  if (!task.key.empty()) absl::StrAppend(&text, " key=", Value(task.key));
  absl::StrAppend(&text, " attempt=", task.attempt);
  return text;
}

std::string Describe(const ProgramEnd& end) {
  if (!end.start_error.empty()) return absl::StrCat("start_error=", Value(end.start_error));
  const std::string how = end.signal != 0 ? absl::StrCat("signal=", end.signal)
                                          : absl::StrCat("exit=", end.exit_code);
  return end.has_timed_out ? absl::StrCat(how, " timeout=true") : how;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AttemptLog>> AttemptLog::Open(const std::string& path) {
  Descriptor file;
  if (path == "-") {
    file = Descriptor(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  } else if (!path.empty()) {
    file = Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  }
  if (!path.empty() && !file.is_open()) {
    return LocalError(absl::StrCat("--log: cannot write ", path, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<AttemptLog>(new AttemptLog(std::move(file), !path.empty()));
}

AttemptLog::~AttemptLog() {
  for (const auto& [token, run] : runs_) Write(run, "unknown");
}

void AttemptLog::Began(const LeasedTask& task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Run& run = runs_[task.lease_token];
  run = {.task = Describe(task), .begin = SteadyNow()};
  const auto early = std::find_if(early_ends_.begin(), early_ends_.end(), [&](const auto& entry) {
    return entry.first == task.lease_token;
  });
  if (early == early_ends_.end()) return;
  run.end = early->second;
  early_ends_.erase(early);
}

void AttemptLog::Ran(const LeasedTask& task, const ProgramEnd& end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto run = runs_.find(task.lease_token);
  if (run == runs_.end()) return;
  run->second.program =
      absl::StrFormat("%s seconds=%.3f", Describe(end),
                      absl::ToDoubleSeconds(SteadyNow() - run->second.begin));
  WriteIfWhole(task.lease_token);
}

void AttemptLog::Settled(const LeasedTask& task, AttemptEnd end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto run = runs_.find(task.lease_token);
  if (run != runs_.end()) {
    run->second.end = end;
    WriteIfWhole(task.lease_token);
    return;
  }
  early_ends_.emplace_back(task.lease_token, end);
  if (early_ends_.size() > kEarlyEndsMax) early_ends_.pop_front();
}

size_t AttemptLog::unknown() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return runs_.size();
}

void AttemptLog::WriteIfWhole(const std::string& lease_token) {
  const auto run = runs_.find(lease_token);
  if (run->second.program.empty() || !run->second.end) return;
  Write(run->second, WordFor(*run->second.end));
  runs_.erase(run);
}

void AttemptLog::Write(const Run& run, absl::string_view end) const {
  if (!is_on_) return;
  const std::string line =
      absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()), " ",
                   run.task, " end=", end, run.program.empty() ? "" : " ", run.program, "\n");
  // In one piece, so that several workers may share a file.
  [[maybe_unused]] const ssize_t written = write(file_.get(), line.data(), line.size());
}

}  // namespace skiplane::cli
