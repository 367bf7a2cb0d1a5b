// simulate COUNT [FIRST]: plays the histories of COUNT seeds from FIRST (1) on. Prints the shortest
// history that breaks an invariant, and what happens in it, and ends with 1; else how much was
// played.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "tests/simulation/seed.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: simulate COUNT [FIRST]\n";
    return 2;
  }
  const uint64_t count = std::strtoull(argv[1], nullptr, 10);
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const auto began = std::chrono::steady_clock::now();
  int64_t events = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const skiplane::simulation::Played played = skiplane::simulation::PlaySeed(seed);
    events += played.events;
    if (played.failure.empty()) continue;
    std::cout << "after " << seed - first + 1 << " seeds: " << played.failure;
    return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << count << " seeds, " << events << " events, " << took.count() << " s\n";
}
