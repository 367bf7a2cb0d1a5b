// The ground that tests stand on: when it gives way, the test program ends with a message, because
// going on would only report what follows from it.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::testing {

// Prints `message` and aborts unless `holds`.
void Require(bool holds, absl::string_view message);

// The value, or an abort with the status.
template <typename T>
T Required(absl::StatusOr<T> value) {
  Require(value.ok(), value.status().ToString());
  return *std::move(value);
}

}  // namespace skiplane::testing
