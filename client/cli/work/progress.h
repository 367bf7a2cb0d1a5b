// How far a program says that it has come: a line of text, "0.4" or "40%", and a message if it
// likes.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "skiplane/task.h"

namespace skiplane::cli {

// Nothing for a line that begins with no number from 0 to 1, or from 0% to 100%.
std::optional<TaskProgress> ParseProgress(absl::string_view line);

// Cuts what is read from a program into lines. A line that is too long is cut.
class ProgressLines {
 public:
  // The last progress in what was added; nothing if there is none.
  std::optional<TaskProgress> Add(absl::string_view text);

 private:
  std::string begun_;
};

}  // namespace skiplane::cli
