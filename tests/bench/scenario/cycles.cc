// The scenarios of workers that produce and consume in a closed loop.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"
#include "tests/bench/load/apart.h"
#include "tests/bench/preload.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kDrained = 200'000;

// Beside the same load without chains, so that both have the same machine.
Figures Chained(Bench& bench, const std::string& name, CycleLoad load) {
  const double unchained = TasksPerSecond(bench.Cycle(name, bench.shared(), load));
  load.is_chained = true;
  Figures figures = bench.Cycle(name, bench.shared(), load);
  figures.extras = {{"unchained_tasks_per_s", unchained},
                    {"ratio", TasksPerSecond(figures) / unchained}};
  return figures;
}

// Beside a broker that asks nobody who calls: both have the same machine, in turns.
Figures BesideOpen(Bench& bench, const std::string& name, const CycleLoad& load) {
  const size_t turns = bench.options().is_quick ? 1 : 5;
  const std::unique_ptr<BrokerRun> open = bench.Fresh();
  const std::unique_ptr<BrokerRun> secured = bench.Fresh(/*is_secured=*/true);
  std::vector<double> ratios;
  Figures figures;
  for (size_t turn = 0; turn < turns; ++turn) {
    const Figures without = bench.Cycle(absl::StrCat(name, "-open-", turn), *open, load);
    figures = bench.Cycle(absl::StrCat(name, "-", turn), *secured, load);
    ratios.push_back(TasksPerSecond(figures) / TasksPerSecond(without));
  }
  std::ranges::sort(ratios);
  figures.scenario = name;
  figures.extras = {{"ratio", ratios[turns / 2]},
                    {"ratio_least", ratios.front()},
                    {"ratio_most", ratios.back()}};
  return figures;
}

}  // namespace

void RunBatch(Bench& bench, const std::string& name) {
  BrokerRun& broker = bench.shared();
  const std::string settled = "SELECT count(*) FROM skiplane.settled";
  const int64_t statements_before = broker.SqlNumber(settled);
  Stage stage(name, broker, bench.options());
  Figures figures = RunCycle(stage, {.tasks_per_call = bench.options().batch_tasks});
  const int64_t statements = broker.SqlNumber(settled) - statements_before;
  bench.rows_per_statement =
      static_cast<double>(stage.count()) / static_cast<double>(std::max<int64_t>(1, statements));
  figures.extras = {{"tasks_per_ack_statement", bench.rows_per_statement}};
  bench.batch_tasks_per_s = TasksPerSecond(figures);
  bench.Print(std::move(figures));
}

void RunNoHistory(Bench& bench, const std::string& name) {
  Options options = bench.options();
  options.history = false;
  Stage stage(name, bench.shared(), options);
  bench.Print(RunCycle(stage, {}));
}

void RunUnary(Bench& bench, const std::string& name) {
  bench.Print(bench.Cycle(name, bench.shared(), {.callers = 100, .tasks_per_call = 1}));
}

void RunChainedBatch(Bench& bench, const std::string& name) {
  bench.Print(Chained(bench, name, {}));
}

void RunChainedUnary(Bench& bench, const std::string& name) {
  bench.Print(Chained(bench, name, {.callers = 100, .tasks_per_call = 1}));
}

void RunSecuredBatch(Bench& bench, const std::string& name) {
  bench.Print(BesideOpen(bench, name, {}));
}

void RunSecuredUnary(Bench& bench, const std::string& name) {
  bench.Print(BesideOpen(bench, name, {.callers = 100, .tasks_per_call = 1}));
}

void RunOne(Bench& bench, const std::string& name) {
  bench.Print(bench.Cycle(name, bench.shared(), {.callers = 1, .tasks_per_call = 1}));
}

void RunDrain(Bench& bench, const std::string& name) {
  Stage stage(name, bench.shared(), bench.options());
  const int64_t backlog = bench.Scaled(kDrained);
  EnqueueAll(stage, backlog);
  Figures figures = RunCycle(stage, {.is_draining = true, .backlog = backlog});
  figures.extras = {{"backlog", static_cast<double>(backlog)}};
  bench.Print(std::move(figures));
}

void RunWorkers(Bench& bench, const std::string& name) {
  const Figures ten =
      bench.Cycle(absl::StrCat(name, "-10"), bench.shared(), {.callers = 10, .tasks_per_call = 10});
  Figures hundred = bench.Cycle(name, bench.shared(), {.callers = 100, .tasks_per_call = 10});
  hundred.extras = {{"workers_10_tasks_per_s", TasksPerSecond(ten)},
                    {"share", TasksPerSecond(hundred) / TasksPerSecond(ten)}};
  bench.Print(std::move(hundred));
}

void RunQueues(Bench& bench, const std::string& name) {
  const Figures one = bench.Cycle(absl::StrCat(name, "-one"), bench.shared());
  const int queues = static_cast<int>(bench.Scaled(1000));
  Stage stage(name, bench.shared(), bench.options(), queues);
  Figures figures = RunCycle(stage, {});
  figures.extras = {{"queues", queues},
                    {"one_queue_tasks_per_s", TasksPerSecond(one)},
                    {"share", TasksPerSecond(figures) / TasksPerSecond(one)}};
  bench.Print(std::move(figures));
}

void RunBrokers(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  const Figures one = bench.Cycle(absl::StrCat(name, "-1"), *broker);
  while (broker->addresses().size() < 4) broker->AddBroker();
  Figures four = bench.Cycle(name, *broker);
  four.extras = {{"brokers_1_tasks_per_s", TasksPerSecond(one)},
                 {"share", TasksPerSecond(four) / TasksPerSecond(one)}};
  bench.Print(std::move(four));
}

void RunFlat(Bench& bench, const std::string& name) {
  const size_t stretch = bench.options().is_quick ? 2 : 30;  // seconds
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  broker->UseOwnAutovacuum();
  Options options = bench.options();
  options.seconds = bench.options().is_quick ? absl::Seconds(10) : absl::Minutes(10);
  Stage stage(name, *broker, options);
  Figures figures = RunApart(stage, {});
  std::vector<double> stretches;
  for (size_t second = 0; second + stretch <= figures.per_second.size(); second += stretch) {
    stretches.push_back(MeanRate(figures.per_second, second, second + stretch));
  }
  if (stretches.size() > 3) {
    const double first = (stretches[0] + stretches[1]) / 2;
    const double last = (stretches.end()[-1] + stretches.end()[-2]) / 2;
    figures.extras = {{"share_of_first_minute", last / first}};
  }
  figures.series = {{"tasks_per_s_by_stretch", stretches}};
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
