// Plays one history, from a seed or as it was recorded, to a report.
#pragma once

#include <cstdint>
#include <string>

#include "tests/simulation/history.h"

namespace skiplane::simulation {

struct Played {
  int64_t events = 0;
  // Empty: nothing is broken. Else which invariant, the shortest history that breaks one, and what
  // happens in it.
  std::string failure;
};

Played Play(const History& history);
Played PlaySeed(uint64_t seed);

}  // namespace skiplane::simulation
