// One line on standard error that says how far the run has come: rewritten in place on a terminal,
// otherwise a new one every few seconds. Not thread-safe.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::demo {

class Progress {
 public:
  Progress();

  // Cheap when called too often.
  void Show(absl::string_view line);

  // A line that stays.
  void Say(absl::string_view line);

 private:
  const bool is_terminal_;
  absl::Time next_;
  bool is_open_ = false;
};

}  // namespace skiplane::demo
