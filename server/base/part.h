// A part of a limit.
#pragma once

#include <cstdint>

namespace skiplane::base {

// So many percent of a limit; rounded up, so that it is something.
constexpr int64_t PartOf(int64_t limit, int64_t percent) { return (limit * percent + 99) / 100; }

}  // namespace skiplane::base
