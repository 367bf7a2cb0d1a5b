// simulate COUNT [FIRST]: plays the histories of COUNT seeds from FIRST (1) on. Prints the shortest
// history that breaks an invariant, and what happens in it, and ends with 1; else how much was
// played.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/simulation/history.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/world.h"

int main(int argc, char** argv) {
  using skiplane::simulation::World;
  if (argc < 2) {
    std::cerr << "usage: simulate COUNT [FIRST]\n";
    return 2;
  }
  const uint64_t count = std::strtoull(argv[1], nullptr, 10);
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const auto began = std::chrono::steady_clock::now();
  int64_t events = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const auto history = skiplane::simulation::MakeHistory(seed);
    World world(history);
    const std::string broken = world.Play();
    events += world.events();
    if (broken.empty()) continue;
    const auto shortest = skiplane::simulation::Shrink(history);
    std::cout << "after " << seed - first + 1 << " seeds: " << broken << "\n"
              << "the shortest history that breaks something: "
              << skiplane::simulation::Print(shortest) << "and what happens:\n";
    std::cout << World(shortest, &std::cout).Play() << "\n";
    return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << count << " seeds, " << events << " events, " << took.count() << " s\n";
}
