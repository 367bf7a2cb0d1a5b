#include "server/broker/lease/lost_leases.h"

#include <atomic>
#include <chrono>
#include <future>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

// While the database is away it is tried again and again; the end of the timer once left the
// callers without an answer.
TEST(LostLeasesTest, EveryOneIsAnsweredWhenTheTimerStops) {
  constexpr int kRuns = 20;
  metrics::Metrics metrics("test", "test");
  base::Timer timer;
  pg::Pool pool({.uri = "postgresql:///x?host=/nonexistent"}, 1, nullptr, [](bool) {});
  PoolTurns turns(pool, 1);
  Context context{pool, turns, timer, metrics, "origin"};
  std::atomic<int> answers = 0;
  LostLeases lost(context, [&](LeaseRun& run, const absl::StatusOr<store::Leased>& leased) {
    EXPECT_EQ(run.demand.lane, 7);
    EXPECT_EQ(leased.status().code(), absl::StatusCode::kUnavailable);
    ++answers;
  });
  LeaseRun run;
  run.demand.lane = 7;
  for (int i = 0; i < kRuns; ++i) lost.Resolve(run);
  timer.Stop();
  lost.EndRetries();
  lost.Resolve(run);
  pool.Stop();
  EXPECT_EQ(answers, kRuns + 1);
}

// It once ended after fifty tries, which pass soon while every connection is refused at once: the
// caller's tasks were then known to nobody.
TEST(LostLeasesTest, TheTimeOfTheTriesIsTheLimitNotTheirNumber) {
  metrics::Metrics metrics("test", "test");
  base::Timer timer;
  pg::Pool pool({.uri = "postgresql:///x?host=/nonexistent"}, 1, nullptr, [](bool) {});
  PoolTurns turns(pool, 1);
  Context context{pool, turns, timer, metrics, "origin"};
  std::promise<std::chrono::steady_clock::time_point> answered;
  const LostLeases::Patience patience{.pause = std::chrono::milliseconds(1),
                                      .try_for = std::chrono::seconds(1)};
  LostLeases lost(
      context,
      [&](LeaseRun&, const absl::StatusOr<store::Leased>&) {
        answered.set_value(std::chrono::steady_clock::now());
      },
      patience);
  const auto began = std::chrono::steady_clock::now();
  lost.Resolve(LeaseRun());
  EXPECT_GE(answered.get_future().get() - began, patience.try_for);
  timer.Stop();
  pool.Stop();
}

}  // namespace
}  // namespace skiplane::broker
