// What a caller may do with a queue. Each verb stands for itself: `admin` includes no other.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"

namespace skiplane::access {

enum class Verb {
  kEnqueue,
  kLease,        // and what a worker does with its tasks: settle, heartbeat
  kRead,         // of tasks and queues, without their payloads and results
  kReadPayload,  // payloads and results of others' tasks
  kOperate,      // tasks: cancel, retry, change
  kAdmin,        // queues: make, change, pause
};
inline constexpr size_t kVerbs = 6;

// As in a file of rules: "read_payload".
absl::string_view VerbName(Verb verb);

// Nothing if there is none of this name.
std::optional<Verb> FindVerb(absl::string_view name);

}  // namespace skiplane::access
