#include "tests/simulation/seed.h"

#include <sstream>

#include "tests/simulation/history.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/world.h"

namespace skiplane::simulation {

Played PlaySeed(uint64_t seed) {
  const History history = MakeHistory(seed);
  World world(history);
  Played played;
  const std::string broken = world.Play();
  played.events = world.events();
  if (broken.empty()) return played;
  const History shortest = Shrink(history);
  std::ostringstream report;
  report << broken << "\nthe shortest history that breaks something: " << Print(shortest)
         << "and what happens:\n";
  const std::string verdict = World(shortest, &report).Play();
  report << verdict << "\n";
  played.failure = report.str();
  return played;
}

}  // namespace skiplane::simulation
