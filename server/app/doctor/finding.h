// One look of the doctor at something.
#pragma once

#include <string>

namespace skiplane::app {

enum class Severity {
  kFine = 0,
  kSeeToIt = 1,  // it serves, and worse than it could
  kWrong = 2,
};

struct Finding {
  std::string what;
  Severity severity = Severity::kFine;
  std::string found;
  std::string advice;  // empty if there is nothing to do
};

}  // namespace skiplane::app
