#include "server/broker/observe/summary_change.h"

#include <functional>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

QueueSummary Busy() {
  QueueSummary summary;
  summary.counted.queue.name = "mail";
  summary.counted.counts.ready = 1;
  summary.counted.counts.leased = 1;
  summary.counted.stages.resize(2);
  summary.look.rates = {10, 10, 10};
  summary.look.oldest_ready_age = absl::Seconds(100);
  summary.look.oldest_attempt_age = absl::Seconds(100);
  return summary;
}

bool Changes(const std::function<void(QueueSummary&)>& change, QueueSummary from = Busy()) {
  QueueSummary seen = from;
  change(seen);
  return IsChange(from, seen);
}

TEST(SummaryChangeTest, WhatAnOperatorSeesIsOne) {
  EXPECT_FALSE(Changes([](QueueSummary&) {}));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.counted.queue.id = 1; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.counted.queue.version = 1; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.counted.queue.pause = model::PauseMode::kBoth; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.counted.queue.pause_reason = "deploy"; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { ++it.counted.counts.ready; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { ++it.counted.counts.succeeded; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { ++it.counted.stages[1].counts.leased; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.counted.stages.resize(3); }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.look.dead_letters = 1; }));
}

TEST(SummaryChangeTest, RatesAndAgesAreOneWhenTheyDifferByMoreThanATenth) {
  EXPECT_FALSE(Changes([](QueueSummary& it) { it.look.rates.enqueued = 10.9; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.look.rates.enqueued = 11.2; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.look.rates.succeeded = 8; }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.look.rates.failed = 12; }));
  EXPECT_FALSE(Changes([](QueueSummary& it) { it.look.oldest_ready_age = absl::Seconds(105); }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.look.oldest_ready_age = absl::Seconds(115); }));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.look.oldest_attempt_age = absl::Seconds(50); }));
}

TEST(SummaryChangeTest, ARateThatFallsToZeroIsTold) {
  QueueSummary slow = Busy();
  slow.look.rates.enqueued = 1e-9;
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.look.rates.enqueued = 0; }, slow));
  EXPECT_TRUE(Changes([](QueueSummary& it) { it.look.rates.enqueued = 0; }));
}

TEST(SummaryChangeTest, AnAgeOfNothingIsNone) {
  QueueSummary idle = Busy();
  idle.counted.counts = {};
  EXPECT_FALSE(Changes([](QueueSummary& it) { it.look.oldest_ready_age = absl::Hours(1); }, idle));
  EXPECT_FALSE(
      Changes([](QueueSummary& it) { it.look.oldest_attempt_age = absl::Hours(1); }, idle));
}

}  // namespace
}  // namespace skiplane::broker
