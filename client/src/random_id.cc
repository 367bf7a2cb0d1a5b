#include "client/src/random_id.h"

#include <cstdint>
#include <random>

#include "absl/strings/str_cat.h"

namespace skiplane::internal {

std::string RandomId() {
  // Straight from the system, so that processes forked from one another do not draw the same.
  std::random_device random;
  const auto word = [&random] { return absl::Hex(random(), absl::kZeroPad8); };
  return absl::StrCat(word(), word(), word(), word());
}

}  // namespace skiplane::internal
