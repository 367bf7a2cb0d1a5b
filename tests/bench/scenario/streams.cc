// Single tasks by the client library: as many as go, and one now and then for a worker that waits.
#include "absl/strings/str_cat.h"
#include "tests/bench/bench.h"
#include "tests/bench/load/apart.h"
#include "tests/bench/load/hand_made.h"
#include "tests/bench/load/streamed.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr double kNowAndThen = 50;  // tasks per second, as in pickup_latency
constexpr StreamLoad kPickup = {
    .outstanding = 4, .workers = 1, .threads = 1, .credit = 4, .tasks_per_s = kNowAndThen};
// Half of what 100 slots can do in 50 ms each.
const StreamLoad kHalf = {.outstanding = 64,
                          .workers = 4,
                          .threads = 25,
                          .credit = 25,
                          .work = absl::Milliseconds(50),
                          .tasks_per_s = 1000};
constexpr ApartLoad kPickupByHand = {.producers = 4,
                                     .workers = 1,
                                     .tasks_per_enqueue = 1,
                                     .tasks_per_lease = 1,
                                     .tasks_per_s = kNowAndThen};

}  // namespace

void RunStreamSingle(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Stage stage(name, *broker, bench.options());
  bench.Print(RunStreamed(stage, {}));
}

void RunStreamHalfLoaded(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Stage stage(name, *broker, bench.options());
  bench.Print(RunStreamed(stage, kHalf));
}

// Before the same load at a hand-made table, so that both have the same machine.
void RunStreamPickup(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Stage stage(name, *broker, bench.options());
  Figures figures = RunStreamed(stage, kPickup);
  Stage by_hand_stage(absl::StrCat(name, "-hand-made"), *broker, bench.options());
  Figures by_hand = RunHandMade(by_hand_stage, *broker, kPickupByHand);
  const double p50 = by_hand.latencies.PercentileMs(0.5);
  figures.extras = {{"hand_made_p50_ms", p50},
                    {"hand_made_p99_ms", by_hand.latencies.PercentileMs(0.99)},
                    {"p50_ratio", figures.latencies.PercentileMs(0.5) / p50}};
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
