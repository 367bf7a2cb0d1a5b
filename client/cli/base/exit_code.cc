#include "client/cli/base/exit_code.h"

#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "client/cli/text/unreachable.h"
#include "skiplane/error.h"

namespace skiplane::cli {
namespace {

constexpr absl::string_view kExitCodePayload = "skiplane.dev/exit-code";

constexpr std::array<std::pair<absl::string_view, absl::string_view>, 9> kNextSteps{{
    {"QUEUE_NOT_FOUND", "skiplane queues list shows the queues, skiplane queues create makes one."},
    {"QUEUE_EXISTS", "skiplane queues update changes the settings of a queue that is there."},
    {"ETAG_MISMATCH", "Somebody changed the queue: look at it, and give the command again."},
    {"TASK_NOT_FOUND", "skiplane tasks list QUEUE shows the tasks of a queue."},
    {"WRONG_STATE", "skiplane tasks show TASK tells the state."},
    {"OPERATION_NOT_FOUND", "skiplane operations list shows those of the last week."},
    {"TOO_MANY_BULK_OPERATIONS", "skiplane operations list shows them, operations stop ends one."},
    {"WORKER_NOT_FOUND", "skiplane workers shows those that live."},
    {"ACCESS_DENIED", "skiplane whoami shows what you may do."},
}};

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  status.SetPayload(kExitCodePayload, absl::Cord(absl::StrCat(static_cast<int>(code))));
  return status;
}

}  // namespace

absl::Status UsageError(absl::string_view message) {
  return WithExitCode(absl::InvalidArgumentError(message), kUsage);
}

absl::Status LocalError(absl::string_view message) {
  return WithExitCode(absl::InternalError(message), kLocal);
}

absl::Status Interrupted(absl::string_view message) {
  return WithExitCode(absl::CancelledError(message), kInterrupted);
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kOk;
  if (const absl::optional<absl::Cord> payload = status.GetPayload(kExitCodePayload)) {
    int code = kLocal;
    if (absl::SimpleAtoi(std::string(*payload), &code)) return static_cast<ExitCode>(code);
  }
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded: return kNotReachable;
    case absl::StatusCode::kNotFound: return kNotFound;
    default: return kRefused;
  }
}

std::string Explain(const absl::Status& status) {
  std::string text = TellUnreachable(status.message());
  if (text.empty()) text = absl::AsciiStrToLower(absl::StatusCodeToString(status.code()));
  if (absl::IsUnimplemented(status)) text = "this broker does not know this call yet";
  const std::string reason = ErrorReason(status);
  const std::string field = ErrorField(status);
  if (!field.empty()) absl::StrAppend(&text, " [field ", field, "]");
  if (!reason.empty()) absl::StrAppend(&text, " (", reason, ")");
  return text;
}

absl::string_view NextStep(const absl::Status& status) {
  const std::string reason = ErrorReason(status);
  for (const auto& [name, step] : kNextSteps) {
    if (name == reason) return step;
  }
  return "";
}

}  // namespace skiplane::cli
