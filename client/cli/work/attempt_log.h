// A line for each attempt: what it was, how its program ended, and what the broker made of it.
//
//   2026-11-22T10:00:04.117Z task=0193… queue=mail attempt=1 end=done exit=0 seconds=1.204
//
// Never payloads, headers or what a program wrote. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/work/descriptor.h"
#include "client/cli/work/program.h"
#include "skiplane/task.h"
#include "skiplane/worker_options.h"

namespace skiplane::cli {

class AttemptLog {
 public:
  // Appends to the file; "-" is standard error, and an empty path writes nothing.
  static absl::StatusOr<std::unique_ptr<AttemptLog>> Open(const std::string& path);

  // Writes what is left, as attempts of which the broker could not be told.
  ~AttemptLog();
  AttemptLog(const AttemptLog&) = delete;
  AttemptLog& operator=(const AttemptLog&) = delete;

  // The line is written when all three were there. Settled may come first, or be all that comes:
  // of what never ran there is no line.
  void Began(const LeasedTask& task);
  void Ran(const LeasedTask& task, const ProgramEnd& end);
  void Settled(const LeasedTask& task, AttemptEnd end);

  // Attempts that began and of which the broker was not told, or not yet; also without a file.
  size_t unknown() const;

 private:
  struct Run {
    std::string task{};  // what is known of it at the beginning
    absl::Duration begin{};  // by SteadyNow
    std::string program{};
    std::optional<AttemptEnd> end{};
  };

  AttemptLog(Descriptor file, bool is_on) : file_(std::move(file)), is_on_(is_on) {}

  // With mutex_ held. Removes it.
  void WriteIfWhole(const std::string& lease_token);
  void Write(const Run& run, absl::string_view end) const;

  const Descriptor file_;
  const bool is_on_;
  mutable std::mutex mutex_;
  std::map<std::string, Run> runs_;  // by lease token
  // Of those that have not begun, by lease token; the latest ones.
  std::deque<std::pair<std::string, AttemptEnd>> early_ends_;
};

}  // namespace skiplane::cli
