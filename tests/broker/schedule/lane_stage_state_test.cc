#include "server/broker/schedule/lane_stage_state.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

using base::SteadyTime;

const SteadyTime kNow = std::chrono::steady_clock::now();
const SteadyTime kLater = kNow + std::chrono::seconds(5);

store::UnleasedTasks Tasks(int64_t count, bool is_ready = true) {
  return {1, 0, 0, is_ready, count, absl::FromUnixMicros(100)};
}

// A probe that began just now saw so many.
void Probe(LaneStageState& state, int64_t ready) {
  state.bounds.SetPriorities({0}, false);
  state.belief.Probed(state.belief.announced(), ready, kLater);
}

TEST(LaneStageStateTest, ANewOneIsToBeProbed) {
  EXPECT_TRUE(LaneStageState({1, 0}).NeedsProbe(kNow));
}

// A notification of less urgent tasks once overtook the first probe, and its tasks those of others.
TEST(LaneStageStateTest, ANotificationBeforeTheFirstProbeDoesNotOvertakeMoreUrgentTasks) {
  LaneStageState state({1, 0});
  const int64_t before = state.belief.announced();
  state.Announced(Tasks(1));
  EXPECT_FALSE(state.MayLease());
  EXPECT_TRUE(state.NeedsProbe(kNow));
  state.bounds.SetPriorities({0}, true);
  state.belief.Probed(before, 0, kLater);
  EXPECT_TRUE(state.MayLease());
  EXPECT_FALSE(state.NeedsProbe(kNow));
}

// While it may have something it comes first; whatever ends that is a reason to ask the next state.
TEST(LaneStageStateTest, BlocksLaterOnesOnlyWhileItMayHaveSomething) {
  LaneStageState state({1, 0});
  auto queue = std::make_shared<model::Queue>();
  state.queue = queue;
  EXPECT_TRUE(state.BlocksLater(kNow)) << "nobody knows";
  state.probe_allowed = kLater;
  EXPECT_FALSE(state.BlocksLater(kNow)) << "nobody will know soon";
  state.is_probing = true;
  EXPECT_TRUE(state.BlocksLater(kNow));
  state.is_probing = false;
  Probe(state, 0);
  EXPECT_FALSE(state.BlocksLater(kNow));
  state.Announced(Tasks(1));
  EXPECT_TRUE(state.BlocksLater(kNow));
  auto paused = std::make_shared<model::Queue>();
  paused->pause = model::PauseMode::kLease;
  state.queue = paused;
  EXPECT_FALSE(state.BlocksLater(kNow));
}

TEST(LaneStageStateTest, WhatIsDueMayBeLeased) {
  LaneStageState state({1, 0});
  Probe(state, 0);
  state.next_due = kNow + std::chrono::seconds(1);
  state.Due(kNow);
  EXPECT_FALSE(state.MayLease());
  state.Due(state.next_due);
  EXPECT_TRUE(state.MayLease());
}

TEST(LaneStageStateTest, ALostWordEndsCertaintyAndRaisedBounds) {
  LaneStageState state({1, 0});
  Probe(state, 0);
  state.bounds.Lower(0, absl::FromUnixMicros(100));
  state.bounds.End(state.bounds.Begin(), {{0, absl::FromUnixMicros(200), 9}});
  ASSERT_TRUE(state.bounds.IsRaised());
  state.Invalidate();
  EXPECT_TRUE(state.NeedsProbe(kNow));
  EXPECT_FALSE(state.bounds.IsRaised());
}

TEST(LaneStageStateTest, AfterAFailureTheNextProbeWaitsALittle) {
  LaneStageState state({1, 0});
  state.Failed(absl::UnavailableError("away"), kNow);
  EXPECT_TRUE(state.NeedsProbe(kNow));
  EXPECT_GT(state.probe_allowed, kNow);
  EXPECT_FALSE(state.error.ok());
}

// When there is nothing, only these are looked at: each of 10,000 leases that came at once had all
// those looked at that had come before it, and the broker read from nobody for seconds.
TEST(LaneStageStateTest, KeepsThoseThatAreAnsweredAtOnceApartFromThoseThatWait) {
  LaneStageState state({1, 0});
  const auto waits = std::make_shared<Ticket>();
  const auto does_not_wait = std::make_shared<Ticket>();
  waits->waits = true;
  state.Enter(waits, &waits->entries.emplace_back());
  state.Enter(does_not_wait, &does_not_wait->entries.emplace_back());
  EXPECT_EQ(state.waiting.size(), 2);
  ASSERT_EQ(state.at_once.size(), 1u);
  EXPECT_EQ(state.at_once.front().ticket, does_not_wait);
  state.Leave(*does_not_wait, does_not_wait->entries.front());
  EXPECT_EQ(state.waiting.size(), 1);
  EXPECT_TRUE(state.at_once.empty());
  state.Leave(*waits, waits->entries.front());
  EXPECT_TRUE(state.waiting.empty());
}

}  // namespace
}  // namespace skiplane::broker
