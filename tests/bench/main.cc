// The benchmark; see tests/bench/run --help.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/bench.h"
#include "tests/bench/load/payload.h"

namespace skiplane::bench {
namespace {

bool AreKnown(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [](const std::string& name) {
    const bool is_known = std::ranges::any_of(
        Scenarios(), [&name](const Scenario& scenario) { return scenario.name == name; });
    if (!is_known) std::cerr << "bench: there is no scenario " << name << "; see --list\n";
    return is_known;
  });
}

bool IsWanted(const Scenario& scenario, const std::vector<std::string>& only) {
  if (only.empty()) return !scenario.is_on_demand;
  return std::ranges::find(only, scenario.name) != only.end();
}

int List() {
  for (const Scenario& scenario : Scenarios()) std::cout << scenario.name << "\n";
  return 0;
}

int Run(const Options& options) {
  Bench bench(options);
  for (const Scenario& scenario : Scenarios()) {
    if (IsWanted(scenario, options.only)) scenario.run(bench, scenario.name);
  }
  return 0;
}

}  // namespace
}  // namespace skiplane::bench

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (std::ranges::count(arguments, "--list") > 0) return skiplane::bench::List();
  const auto options = skiplane::bench::ParseOptions(arguments);
  if (!options) return 2;
  if (!skiplane::bench::AreKnown(options->only)) return 2;
  skiplane::bench::SetPayloadShape(options->payload);
  return skiplane::bench::Run(*options);
}
