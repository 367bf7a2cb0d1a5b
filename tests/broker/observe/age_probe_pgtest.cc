#include "absl/strings/str_cat.h"
#include "server/broker/observe/age_probe.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::broker {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

class AgeProbeTest : public testing::BrokerHarness {
 protected:
  AgeProbeTest() {
    for (int lane = 1; lane <= 3; ++lane) {
      Sql(
          absl::StrCat("INSERT INTO skiplane.task (lane, id, schedule_time, create_time, "
                       "max_attempts, "
                       "payload) VALUES (",
                       lane, ", 1, now() - ", lane, " * interval '1 hour', now(), 1, '')"));
    }
  }

  std::vector<int64_t> Hours(const AgeProbe& probe) const {
    std::vector<int64_t> ages;
    for (const int64_t lane : {1, 2, 3}) ages.push_back(absl::ToInt64Hours(probe.AgeOf({lane, 0})));
    return ages;
  }

  const std::vector<model::LaneStage> lanes_{{1, 0}, {2, 0}, {3, 0}};
  const std::unique_ptr<pg::Session> session_ =
      testing::Required(pg::Session::Open({.uri = database_.uri()}, nullptr));
};

TEST_F(AgeProbeTest, OneRunReadsAllIfTimeAllows) {
  AgeProbe probe(hours(1));
  probe.Run(*session_, lanes_);
  EXPECT_EQ(Hours(probe), (std::vector<int64_t>{1, 2, 3}));
}

TEST_F(AgeProbeTest, LanesTakeTurnsWhenTimeIsShort) {
  AgeProbe probe(nanoseconds(0), 0);
  probe.Run(*session_, lanes_);
  EXPECT_EQ(Hours(probe), (std::vector<int64_t>{1, 0, 0}));
  probe.Run(*session_, lanes_);
  EXPECT_EQ(Hours(probe), (std::vector<int64_t>{1, 2, 0}));
  probe.Run(*session_, lanes_);
  EXPECT_EQ(Hours(probe), (std::vector<int64_t>{1, 2, 3}));
  Sql("UPDATE skiplane.task SET schedule_time = now() - interval '9 hours'");
  probe.Run(*session_, lanes_);
  EXPECT_EQ(Hours(probe), (std::vector<int64_t>{9, 2, 3}));
}

// An old transaction kept 2.5 million dead rows in the way, and reading one age took two seconds
// of every five.
TEST_F(AgeProbeTest, WhatCostMuchIsNotReadAgainSoon) {
  AgeProbe probe(hours(1), 1'000'000'000);
  probe.Run(*session_, lanes_);
  Sql("UPDATE skiplane.task SET schedule_time = now() - interval '9 hours'");
  probe.Run(*session_, lanes_);
  EXPECT_EQ(Hours(probe), (std::vector<int64_t>{1, 2, 3}));
}

// A lane of 65,536 priorities kept a connection from all others for minutes, by one GetQueue.
TEST_F(AgeProbeTest, NoMorePrioritiesAreReadThanTimeAllows) {
  Sql("INSERT INTO skiplane.task (lane, id, schedule_time, create_time, max_attempts, priority, "
      "payload) SELECT 1, 10 + p, now() - interval '1 hour' * CASE p WHEN 0 THEN 9 ELSE 1 END, "
      "now(), 1, p, '' FROM generate_series(-5, 5) p");
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(absl::ToInt64Hours(OldestReadyAge(*session_, {1, 0}, now + hours(1))), 9);
  EXPECT_EQ(absl::ToInt64Hours(OldestReadyAge(*session_, {1, 0}, now)), 1);
}

TEST_F(AgeProbeTest, LanesThatAreNotAskedForAreForgotten) {
  AgeProbe probe(hours(1), 0);
  probe.Run(*session_, lanes_);
  probe.Run(*session_, {{2, 0}});
  EXPECT_EQ(Hours(probe), (std::vector<int64_t>{0, 2, 0}));
}

}  // namespace
}  // namespace skiplane::broker
