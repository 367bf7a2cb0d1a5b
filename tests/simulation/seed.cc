#include "tests/simulation/seed.h"

#include <sstream>

#include "tests/simulation/shrink.h"
#include "tests/simulation/world.h"

namespace skiplane::simulation {

Played PlaySeed(uint64_t seed) { return Play(MakeHistory(seed)); }

Played Play(const History& history) {
  World world(history);
  Played played;
  const std::string broken = world.Play();
  played.events = world.events();
  if (broken.empty()) return played;
  const History shortest = Shrink(history);
  std::ostringstream report;
  report << broken << "\nthe shortest history that breaks something:\n" << Print(shortest)
         << "and what happens:\n";
  const std::string verdict = World(shortest, &report).Play();
  report << verdict << "\n";
  played.failure = report.str();
  return played;
}

}  // namespace skiplane::simulation
