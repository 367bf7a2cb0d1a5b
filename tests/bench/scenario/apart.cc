// Producers apart from workers, at the broker and at a table that is made by hand: healthy, with
// PostgreSQL's own settings of autovacuum, and under an old snapshot.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"
#include "tests/bench/load/apart.h"
#include "tests/bench/load/hand_made.h"
#include "tests/bench/open_connection.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr ApartLoad kUnary = {
    .producers = 100, .workers = 100, .tasks_per_enqueue = 1, .tasks_per_lease = 1};
constexpr ApartLoad kLight = {.producers = 10,
                              .workers = 10,
                              .tasks_per_enqueue = 1,
                              .tasks_per_lease = 1,
                              .tasks_per_s = 45};

// Of the hand-made table. More connections made it slower.
constexpr ApartLoad kByHand = {.producers = 4, .workers = 4};
constexpr ApartLoad kUnaryByHand = {
    .producers = 20, .workers = 20, .tasks_per_enqueue = 1, .tasks_per_lease = 1};
constexpr ApartLoad kLightByHand = {.producers = 4,
                                    .workers = 1,
                                    .tasks_per_enqueue = 1,
                                    .tasks_per_lease = 1,
                                    .tasks_per_s = 45};

// An open transaction that has read: nothing that dies after it can be cleaned away.
constexpr char kOldSnapshot[] =
    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM skiplane.queue";

// The first and the last five seconds.
void AddEnds(Figures& figures) {
  const size_t seconds = figures.per_second.size();
  const size_t some = std::min<size_t>(5, seconds);
  const double first = MeanRate(figures.per_second, 0, some);
  const double last = MeanRate(figures.per_second, seconds - some, seconds);
  figures.extras.insert(figures.extras.end(),
                        {{"first_5_s", first}, {"last_5_s", last}, {"share", last / first}});
}

Figures AtBroker(Stage& stage, BrokerRun&, const ApartLoad& load) { return RunApart(stage, load); }

using Load = Figures (*)(Stage&, BrokerRun&, const ApartLoad&);

ApartLoad Batches(const Bench& bench, ApartLoad load = {}) {
  load.tasks_per_enqueue = bench.options().batch_tasks;
  return load;
}

// Each in a cluster of its own.
void Healthy(Bench& bench, const std::string& name, Load run, const ApartLoad& load) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Stage stage(name, *broker, bench.options());
  bench.Print(run(stage, *broker, load));
}

void WithOwnAutovacuum(Bench& bench, const std::string& name, Load run, const ApartLoad& load) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  broker->UseOwnAutovacuum();
  Options options = bench.options();
  options.seconds = absl::Seconds(bench.Scaled(60));
  Stage stage(name, *broker, options);
  Figures figures = run(stage, *broker, load);
  AddEnds(figures);
  bench.Print(std::move(figures));
}

void UnderSnapshot(Bench& bench, const std::string& name, Load run, const ApartLoad& load) {
  Options options = bench.options();
  options.seconds = absl::Seconds(bench.Scaled(60));
  const auto measure = [&](const std::string& queue, bool has_snapshot) {
    const std::unique_ptr<BrokerRun> broker = bench.Fresh();
    OpenConnection snapshot(*broker);
    if (has_snapshot) snapshot.Run(kOldSnapshot);
    Stage stage(queue, *broker, options);
    return run(stage, *broker, load);
  };
  const Figures without = measure(absl::StrCat(name, "-without"), false);
  Figures with = measure(name, true);
  const auto last = [](const Figures& figures) {
    const size_t seconds = figures.per_second.size();
    return MeanRate(figures.per_second, seconds - std::min<size_t>(5, seconds), seconds);
  };
  with.extras = {{"last_5_s", last(with)},
                 {"last_5_s_without", last(without)},
                 {"share", last(with) / last(without)}};
  bench.Print(std::move(with));
}

}  // namespace

void RunApartBatch(Bench& bench, const std::string& name) {
  Healthy(bench, name, &AtBroker, Batches(bench));
}

void RunApartUnary(Bench& bench, const std::string& name) {
  Healthy(bench, name, &AtBroker, kUnary);
}

void RunApartAutovacuum(Bench& bench, const std::string& name) {
  WithOwnAutovacuum(bench, name, &AtBroker, {});
}

void RunLight(Bench& bench, const std::string& name) { Healthy(bench, name, &AtBroker, kLight); }

void RunSnapshot(Bench& bench, const std::string& name) {
  UnderSnapshot(bench, name, &AtBroker, {});
}

void RunHandMadeBatch(Bench& bench, const std::string& name) {
  Healthy(bench, name, &RunHandMade, Batches(bench, kByHand));
}

void RunHandMadeUnary(Bench& bench, const std::string& name) {
  Healthy(bench, name, &RunHandMade, kUnaryByHand);
}

void RunHandMadeAutovacuum(Bench& bench, const std::string& name) {
  WithOwnAutovacuum(bench, name, &RunHandMade, kByHand);
}

void RunHandMadeSnapshot(Bench& bench, const std::string& name) {
  UnderSnapshot(bench, name, &RunHandMade, kByHand);
}

void RunHandMadeLight(Bench& bench, const std::string& name) {
  Healthy(bench, name, &RunHandMade, kLightByHand);
}

}  // namespace skiplane::bench
