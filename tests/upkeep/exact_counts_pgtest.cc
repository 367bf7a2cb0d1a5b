// The counters against a real count, after any history of operations and beside two folders.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "gmock/gmock.h"
#include "server/upkeep/counter_folder.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using testing::Required;

class ExactCountsTest : public testing::UpkeepHarness {
 protected:
  // SKIPLANE_TEST_SEED repeats a run.
  void SetUp() override {
    const char* given = std::getenv("SKIPLANE_TEST_SEED");
    const unsigned seed =
        given ? static_cast<unsigned>(std::atoi(given)) : std::random_device()() % 1000000;
    RecordProperty("seed", static_cast<int>(seed));
    std::cout << "SKIPLANE_TEST_SEED=" << seed << std::endl;
    random_.seed(seed);
    lanes_ = {lane_, MakeLane("other")};
  }

  int Random(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void PutSome() {
    model::NewTask task = testing::TaskWithPriority(static_cast<int16_t>(Random(3)));
    // So far ahead that none becomes due by itself between two looks at the counts.
    if (Random(3) == 0) task.delay = absl::Minutes(10) + absl::Seconds(Random(100));
    if (Random(4) == 0) {
      task.key = absl::StrCat("k", ++keys_);
      PutOne(task, 1 + Random(3));
    } else {
      Put(1 + Random(20), task, 1 + Random(3));
    }
  }

  void TakeSome() {
    if (Tasks(absl::StrCat("lane = ", lane_)) == 0) return;
    const std::string worker = absl::StrCat("w", Random(5));
    for (const auto& row : Take(1 + Random(10), Worker(worker))) held_.push_back(row.task.token);
  }

  // Any of the leases, of which some are over.
  void SettleSome() {
    constexpr store::Action kActions[] = {store::Action::kAck, store::Action::kAck,
                                          store::Action::kRetry, store::Action::kFail,
                                          store::Action::kRelease};
    const store::Action action = kActions[Random(5)];
    std::vector<model::LeaseToken> tokens;
    for (size_t i = 0; i < held_.size();) {
      const bool is_chosen = held_[i].task.lane == lane_ && Random(2) == 0;
      if (!is_chosen) {
        ++i;
        continue;
      }
      tokens.push_back(held_[i]);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::sort(tokens.begin(), tokens.end(),
              [](const auto& a, const auto& b) { return a.task.id < b.task.id; });
    // One statement settles a task once.
    tokens.erase(std::unique(tokens.begin(), tokens.end(),
                             [](const auto& a, const auto& b) { return a.task == b.task; }),
                 tokens.end());
    if (!tokens.empty()) Settle(tokens, action);
  }

  void Step() {
    lane_ = lanes_[static_cast<size_t>(Random(2))];
    switch (Random(6)) {
      case 0:
      case 1:
        return PutSome();
      case 2:
      case 3:
        return TakeSome();
      case 4:
        return SettleSome();
      default:
        Silence(absl::StrCat("w", Random(5)));
        if (Random(2) == 0) LetTimePass();
        Reclaim();
    }
  }

  // Lanes whose counters and tasks differ, seen in one snapshot.
  int64_t WrongLanes() const {
    return Number(
        "SELECT count(*) FROM ("
        "  SELECT lane, sum(waiting) AS w, sum(leased) AS l FROM ("
        "    SELECT lane, waiting, leased FROM skiplane.counter UNION ALL "
        "    SELECT lane, waiting, leased FROM skiplane.counter_delta) a GROUP BY lane) c "
        "FULL JOIN ("
        "  SELECT lane, count(*) FILTER (WHERE state = 1) AS w, "
        "         count(*) FILTER (WHERE state = 2) AS l FROM skiplane.task GROUP BY lane) t "
        "USING (lane) "
        "WHERE coalesce(c.w, 0) <> coalesce(t.w, 0) OR coalesce(c.l, 0) <> coalesce(t.l, 0)");
  }

  std::minstd_rand random_;
  std::vector<int64_t> lanes_;
  std::vector<model::LeaseToken> held_;
  int keys_ = 0;
};

TEST_F(ExactCountsTest, AreTheRealCountsAtAnyMoment) {
  std::atomic<bool> is_over = false;
  const auto fold = [this, &is_over] {
    const auto session = Open();
    CounterFolder folder(absl::ZeroDuration(), absl::ZeroDuration());
    while (!is_over) Required(folder.RunOnce(*session));
  };
  std::thread one(fold), two(fold);
  for (int step = 0; step < 200; ++step) {
    Step();
    EXPECT_EQ(WrongLanes(), 0) << "after step " << step;
  }
  is_over = true;
  one.join();
  two.join();
  CounterFolder folder;
  while (!Required(folder.RunOnce(*session_)).is_complete) continue;
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.counter_delta"), 0);
  // TearDown compares every state, finished ones included.
}

}  // namespace
}  // namespace skiplane::upkeep
