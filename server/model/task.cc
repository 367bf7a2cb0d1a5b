#include "server/model/task.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"

namespace skiplane::model {

std::string FormatTaskId(const TaskId& id) { return absl::StrCat(id.lane, "-", id.id); }

absl::StatusOr<TaskId> ParseTaskId(absl::string_view text) {
  TaskId id;
  const size_t dash = text.find('-');
  // The comparison with our own spelling refuses spaces, signs and leading zeros in one go.
  if (dash != absl::string_view::npos && absl::SimpleAtoi(text.substr(0, dash), &id.lane) &&
      absl::SimpleAtoi(text.substr(dash + 1), &id.id) && id.lane >= 0 && id.id >= 0 &&
      FormatTaskId(id) == text) {
    return id;
  }
  return base::InvalidField("task_id", "must be an id that this installation gave, as in \"1-42\"");
}

}  // namespace skiplane::model
