#include "tests/bench/load/request_id.h"

#include <random>

#include "absl/strings/str_cat.h"

namespace skiplane::bench {

std::string NewRequestId() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  const auto word = [] { return absl::Hex(random(), absl::kZeroPad16); };
  return absl::StrCat(word(), word());
}

}  // namespace skiplane::bench
