// simulate COUNT [FIRST]: plays the histories of COUNT seeds from FIRST (1) on.
// simulate FILE: plays the history that the file holds, as this program or a test printed it.
//
// Prints the shortest history that breaks an invariant, and what happens in it, and ends with 1;
// else how much was played.
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "tests/simulation/seed.h"

namespace skiplane::simulation {
namespace {

int PlaySeeds(uint64_t count, uint64_t first) {
  const auto began = std::chrono::steady_clock::now();
  int64_t events = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Played played = PlaySeed(seed);
    events += played.events;
    if (played.failure.empty()) continue;
    std::cout << "after " << seed - first + 1 << " seeds: " << played.failure;
    return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << count << " seeds, " << events << " events, " << took.count() << " s\n";
  return 0;
}

int PlayFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::optional<History> history = Parse(text.str());
  if (!history.has_value()) {
    std::cerr << "simulate: " << path << " holds no history\n";
    return 2;
  }
  const Played played = Play(*history);
  std::cout << (played.failure.empty() ? std::to_string(played.events) + " events\n"
                                       : played.failure);
  return played.failure.empty() ? 0 : 1;
}

}  // namespace
}  // namespace skiplane::simulation

int main(int argc, char** argv) {
  uint64_t count = 0;
  uint64_t first = 1;
  const bool has_count = argc > 1 && absl::SimpleAtoi(argv[1], &count);
  const bool has_first = argc > 2;
  if (argc < 2 || argc > 3 || (has_first && !absl::SimpleAtoi(argv[2], &first))) {
    std::cerr << "usage: simulate COUNT [FIRST], or simulate FILE\n";
    return 2;
  }
  if (has_count) return skiplane::simulation::PlaySeeds(count, first);
  return skiplane::simulation::PlayFile(argv[1]);
}
