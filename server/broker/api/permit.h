// What a caller may do, where only the broker learns which queue a call is about: it asks before it
// reads or changes anything, and whether or not there is such a task, so that a refusal tells
// nothing of what exists.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::broker {

// OK, or the refusal that the caller gets. An empty name: there is no such queue. Called on any
// thread, once or more; must not block. Null: everything may be done.
using Permit = std::function<absl::Status(absl::string_view queue)>;

inline absl::Status Ask(const Permit& permit, absl::string_view queue) {
  return permit == nullptr ? absl::OkStatus() : permit(queue);
}

}  // namespace skiplane::broker
