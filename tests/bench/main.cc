// The benchmark; see tests/bench/run --help.
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/broker_run.h"
#include "tests/bench/figures.h"
#include "tests/bench/options.h"
#include "tests/bench/scenario.h"

namespace skiplane::bench {
namespace {

struct Scenario {
  std::string name;
  int callers;  // 0: pick-up latency
  int tasks_per_call;
};

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> scenarios = {
      {"cycle_batch", 10, 100}, {"cycle_unary", 100, 1}, {"pickup_latency", 0, 1}};
  return scenarios;
}

bool AreKnown(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    bool is_known = false;
    for (const Scenario& scenario : Scenarios()) is_known = is_known || scenario.name == name;
    if (!is_known) {
      std::cerr << "bench: there is no scenario " << name << "\n";
      return false;
    }
  }
  return true;
}

int Run(const Options& options) {
  const BrokerRun broker(options.broker, options.directory);
  for (const Scenario& scenario : Scenarios()) {
    if (!IsWanted(options, scenario.name)) continue;
    Figures figures = scenario.callers == 0
                          ? RunPickup(scenario.name, broker, options)
                          : RunCycle(scenario.name, scenario.callers, scenario.tasks_per_call,
                                     broker, options);
    std::cout << ToJson(std::move(figures)) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace skiplane::bench

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto options = skiplane::bench::ParseOptions(arguments);
  if (!options) return arguments == std::vector<std::string>{"--help"} ? 0 : 2;
  if (!skiplane::bench::AreKnown(options->only)) return 2;
  return skiplane::bench::Run(*options);
}
