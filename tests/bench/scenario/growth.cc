// The scenarios of a database that has grown: the rate of producers and workers that are
// apart, beside many rows, as a share of the rate without them in the same cluster; and how long
// tasks of another queue take at half of that rate, before and after.
#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"
#include "tests/bench/load/apart.h"
#include "tests/bench/preload.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

// Half of what the empty queue does, open loop: how long tasks take into a worker's hands.
constexpr double kOpenShare = 0.5;

Figures Open(const std::string& name, BrokerRun& broker, const Options& options, double rate) {
  Stage stage(absl::StrCat(name, "-open"), broker, options);
  return RunApart(stage, {.tasks_per_s = kOpenShare * rate});
}

void RunGrown(Bench& bench, const std::string& name, Preload what, int64_t rows) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Stage empty_stage(absl::StrCat(name, "-empty"), *broker, bench.options());
  const double empty = TasksPerSecond(RunApart(empty_stage, {}));
  Figures open_empty = Open(absl::StrCat(name, "-empty"), *broker, bench.options(), empty);
  Stage stage(name, *broker, bench.options());
  PreloadRows(*broker, name, what, bench.Scaled(rows));
  Figures figures = RunApart(stage, {});
  Figures open = Open(name, *broker, bench.options(), empty);
  figures.extras = {{"rows", static_cast<double>(bench.Scaled(rows))},
                    {"empty_tasks_per_s", empty},
                    {"share", TasksPerSecond(figures) / empty},
                    {"open_tasks_per_s", TasksPerSecond(open)},
                    {"open_p50_ms", open.latencies.PercentileMs(0.5)},
                    {"open_p99_ms", open.latencies.PercentileMs(0.99)},
                    {"empty_open_p50_ms", open_empty.latencies.PercentileMs(0.5)},
                    {"empty_open_p99_ms", open_empty.latencies.PercentileMs(0.99)}};
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
