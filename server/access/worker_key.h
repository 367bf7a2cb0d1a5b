// What the broker knows a worker by, instead of the id that the worker calls itself.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::access {

// 43 characters, from which nobody learns the id. Workers of different principals are different
// ones, whatever they call themselves: a session belongs to its principal. Empty for no id.
std::string WorkerKey(absl::string_view principal, absl::string_view worker_id);

}  // namespace skiplane::access
