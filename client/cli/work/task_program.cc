#include "client/cli/work/task_program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/text/duration.h"

namespace skiplane::cli {
namespace {

// Of the task that this process itself may be the worker of.
bool IsOfAnotherTask(absl::string_view variable) {
  constexpr std::array kPrefixes{"SKIPLANE_HEADER_", "SKIPLANE_PAYLOAD_FILE=",
                                 "SKIPLANE_FOLLOW_UPS_FILE=", "SKIPLANE_NEXT_PAYLOAD_FILE=",
                                 "SKIPLANE_PROGRESS_FILE="};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](const char* prefix) {
    return absl::StartsWith(variable, prefix);
  });
}

std::string HeaderName(const std::string& key) {
  std::string name = absl::AsciiStrToUpper(key);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return absl::StrCat("SKIPLANE_HEADER_", name);
}

}  // namespace

std::vector<std::string> EnvironmentOf(const LeasedTask& task,
                                       const std::vector<std::string>& ours) {
  std::vector<std::string> environment;
  for (const std::string& variable : ours) {
    if (!IsOfAnotherTask(variable)) environment.push_back(variable);
  }
  const auto add = [&](absl::string_view name, absl::string_view value) {
    const std::string prefix = absl::StrCat(name, "=");
    std::erase_if(environment,
                  [&](const std::string& entry) { return absl::StartsWith(entry, prefix); });
    environment.push_back(absl::StrCat(prefix, value));
  };
  add("SKIPLANE_TASK_ID", task.task_id);
  add("SKIPLANE_QUEUE", task.queue);
  add("SKIPLANE_STAGE", task.stage);
  add("SKIPLANE_KEY", task.key);
  add("SKIPLANE_ATTEMPT", absl::StrCat(task.attempt));
  add("SKIPLANE_MAX_ATTEMPTS", absl::StrCat(task.max_attempts));
  add("SKIPLANE_PRIORITY", absl::StrCat(task.priority));
  add("SKIPLANE_CONTENT_TYPE", task.content_type);
  const TaskError error = task.last_error.value_or(TaskError());
  const auto& progress = task.last_progress;
  add("SKIPLANE_LAST_ERROR_TYPE", error.type);
  add("SKIPLANE_LAST_ERROR", error.text);
  add("SKIPLANE_LAST_PROGRESS", progress ? absl::StrCat(progress->fraction) : "");
  add("SKIPLANE_LAST_PROGRESS_MESSAGE", progress ? progress->message : "");
  for (const auto& [key, value] : task.headers) add(HeaderName(key), value);
  return environment;
}

Result ResultOf(ProgramEnd end, const WorkRules& rules) {
  if (!end.start_error.empty()) {
    return Result::Retry({.type = "cannot start", .text = std::move(end.start_error)});
  }
  if (end.has_timed_out) {
    const std::string text = absl::StrCat("it ran longer than --timeout ",
                                          DurationText(rules.timeout), " and was stopped\n");
    return Result::Retry({.type = "timeout", .text = absl::StrCat(text, end.error_tail)});
  }
  if (end.signal != 0) {
    return Result::Retry(
        {.type = absl::StrCat("signal ", end.signal), .text = std::move(end.error_tail)});
  }
  if (end.exit_code != 0) {
    TaskError error{.type = absl::StrCat("exit ", end.exit_code),
                    .text = std::move(end.error_tail)};
    if (rules.fail_codes.contains(end.exit_code)) return Result::Fail(std::move(error));
    return Result::Retry(std::move(error));
  }
  if (!rules.keeps_result) return Result::Done();
  if (end.output.size() > kOutputBytesMax) {
    return Result::Fail({.type = "result too large", .text = "more than 1 MiB on standard output"});
  }
  return Result::Done(std::move(end.output));
}

Result WithMore(Result result, absl::StatusOr<AckMore> more, const std::string& error_tail) {
  if (result.kind() != Result::Kind::kDone) return result;
  if (more.ok()) return Result::Done(result.output(), *std::move(more));
  return Result::Retry(
      {.type = "bad output file", .text = absl::StrCat(more.status().message(), "\n", error_tail)});
}

}  // namespace skiplane::cli
