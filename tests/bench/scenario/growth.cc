// The scenarios of a database that has grown: the rate of cycle_batch beside many rows, as a share
// of the rate without them in the same cluster.
#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"
#include "tests/bench/preload.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

void RunGrown(Bench& bench, const std::string& name, Preload what, int64_t rows) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  const Figures empty = bench.Cycle(absl::StrCat(name, "-empty"), *broker);
  Stage stage(name, *broker, bench.options());
  PreloadRows(*broker, name, what, bench.Scaled(rows));
  Figures figures = RunCycle(stage, {});
  figures.extras = {{"rows", static_cast<double>(bench.Scaled(rows))},
                    {"empty_tasks_per_s", TasksPerSecond(empty)},
                    {"share", TasksPerSecond(figures) / TasksPerSecond(empty)}};
  bench.Print(std::move(figures));
}

}  // namespace

void RunBacklog1m(Bench& bench, const std::string& name) {
  RunGrown(bench, name, Preload::kReady, 1'000'000);
}

void RunBacklog10m(Bench& bench, const std::string& name) {
  RunGrown(bench, name, Preload::kReady, 10'000'000);
}

void RunHistory10m(Bench& bench, const std::string& name) {
  RunGrown(bench, name, Preload::kHistory, 10'000'000);
}

void RunDelayed1m(Bench& bench, const std::string& name) {
  RunGrown(bench, name, Preload::kDelayed, 1'000'000);
}

}  // namespace skiplane::bench
