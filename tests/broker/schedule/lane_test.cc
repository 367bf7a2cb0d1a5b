#include "server/broker/schedule/lane.h"

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
void Probe(Lane& lane, int64_t ready) {
  lane.bounds.SetPriorities({0}, false);
  lane.belief.Probed(lane.belief.announced(), ready, kLater);
}

TEST(LaneTest, ANewLaneIsToBeProbed) { EXPECT_TRUE(Lane({1, 0}).NeedsProbe(kNow)); }

// A notification of less urgent tasks once overtook the first probe, and its tasks those of others.
TEST(LaneTest, ANotificationBeforeTheFirstProbeDoesNotOvertakeMoreUrgentTasks) {
  Lane lane({1, 0});
  const int64_t before = lane.belief.announced();
  lane.Announced(Tasks(1));
  EXPECT_FALSE(lane.MayLease());
  EXPECT_TRUE(lane.NeedsProbe(kNow));
  lane.bounds.SetPriorities({0}, true);
  lane.belief.Probed(before, 0, kLater);
  EXPECT_TRUE(lane.MayLease());
  EXPECT_FALSE(lane.NeedsProbe(kNow));
}

// While it may have something it comes first; whatever ends that is a reason to ask the next lane.
TEST(LaneTest, BlocksLaterLanesOnlyWhileItMayHaveSomething) {
  Lane lane({1, 0});
  auto queue = std::make_shared<model::Queue>();
  lane.queue = queue;
  EXPECT_TRUE(lane.BlocksLater(kNow)) << "nobody knows";
  lane.probe_allowed = kLater;
  EXPECT_FALSE(lane.BlocksLater(kNow)) << "nobody will know soon";
  lane.is_probing = true;
  EXPECT_TRUE(lane.BlocksLater(kNow));
  lane.is_probing = false;
  Probe(lane, 0);
  EXPECT_FALSE(lane.BlocksLater(kNow));
  lane.Announced(Tasks(1));
  EXPECT_TRUE(lane.BlocksLater(kNow));
  auto paused = std::make_shared<model::Queue>();
  paused->pause = model::PauseMode::kLease;
  lane.queue = paused;
  EXPECT_FALSE(lane.BlocksLater(kNow));
}

TEST(LaneTest, WhatIsDueMayBeLeased) {
  Lane lane({1, 0});
  Probe(lane, 0);
  lane.next_due = kNow + std::chrono::seconds(1);
  lane.Due(kNow);
  EXPECT_FALSE(lane.MayLease());
  lane.Due(lane.next_due);
  EXPECT_TRUE(lane.MayLease());
}

TEST(LaneTest, ALostWordEndsCertaintyAndRaisedBounds) {
  Lane lane({1, 0});
  Probe(lane, 0);
  lane.bounds.Lower(0, absl::FromUnixMicros(100));
  lane.bounds.End(lane.bounds.Begin(), {{0, absl::FromUnixMicros(200), 9}});
  ASSERT_TRUE(lane.bounds.IsRaised());
  lane.Invalidate();
  EXPECT_TRUE(lane.NeedsProbe(kNow));
  EXPECT_FALSE(lane.bounds.IsRaised());
}

TEST(LaneTest, AfterAFailureTheNextProbeWaitsALittle) {
  Lane lane({1, 0});
  lane.Failed(absl::UnavailableError("away"), kNow);
  EXPECT_TRUE(lane.NeedsProbe(kNow));
  EXPECT_GT(lane.probe_allowed, kNow);
  EXPECT_FALSE(lane.error.ok());
}

}  // namespace
}  // namespace skiplane::broker
