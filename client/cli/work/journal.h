// A line for each attempt: what it was, how its program ended, and what the broker made of it.
//
//   2026-11-22T10:00:00Z task=0192… queue=mail key=order-17 attempt=1 end=done exit=0 seconds=1.204
//
// Never payloads, headers or what a program wrote. Thread-safe.
#pragma once

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

class Journal {
 public:
  // Appends to the file; "-" is standard error, and an empty path writes nothing.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& path);

  // Writes what is left, as attempts of which the broker could not be told.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // In this order, but Settled may come before Ran; the line is written when both were there.
  void Began(const LeasedTask& task);
  void Ran(const LeasedTask& task, const ProgramEnd& end);
  void Settled(const LeasedTask& task, AttemptEnd end);

 private:
  struct Run {
    std::string task{};  // what is known of it at the beginning
    absl::Time begin{};
    std::string program{};
    std::optional<AttemptEnd> end{};
  };

  Journal(Descriptor file, bool is_on) : file_(std::move(file)), is_on_(is_on) {}

  // With mutex_ held. Removes it.
  void WriteIfWhole(const std::string& lease_token);
  void Write(const Run& run, absl::string_view end) const;

  const Descriptor file_;
  const bool is_on_;
  std::mutex mutex_;
  std::map<std::string, Run> runs_;  // by lease token
};

}  // namespace skiplane::cli
