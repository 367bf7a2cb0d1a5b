// Where a field is in its request, as in tasks[3].headers["x"]. Spelled only when it is at fault,
// because a call may have thousands of fields and nearly all of them are valid.
//
// It points at texts of its creator: do not keep it.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::rpc {

struct Field {
  absl::string_view name;       // "priority", "settings.lease_duration"; empty: the item itself
  absl::string_view list = {};  // "tasks": the field belongs to list[index]
  size_t index = 0;
  const std::string* key = nullptr;   // of a map: the entry
  absl::string_view outer = {};       // "task": the message in the item that the field belongs to

  // At most a few hundred bytes, whatever the key is.
  std::string Path() const;
};

// INVALID_ARGUMENT with reason INVALID_FIELD on `field`.
absl::Status InvalidField(const Field& field, absl::string_view message);

}  // namespace skiplane::rpc
