#include "tests/support/require.h"

#include <cstdlib>
#include <iostream>

namespace skiplane::testing {

void Require(bool holds, absl::string_view message) {
  if (holds) return;
  std::cerr << "The test's ground gave way: " << message << std::endl;
  std::abort();
}

}  // namespace skiplane::testing
