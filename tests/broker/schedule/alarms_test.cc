#include "server/broker/schedule/alarms.h"

#include "gtest/gtest.h"
#include "server/broker/schedule/ticket.h"

namespace skiplane::broker {
namespace {

using std::chrono::seconds;

const base::SteadyTime kNow{std::chrono::hours(1)};

// The lane of the next one that is due; 0: there is none.
int64_t Take(Alarms& alarms, base::SteadyTime now) {
  Alarms::Target target;
  if (!alarms.TakeDue(now, &target)) return 0;
  return std::get<model::LaneStage>(target).lane;
}

model::LaneStage Lane(int64_t lane) { return {lane, 0}; }

TEST(AlarmsTest, WithoutAnyThereIsNothingToWakeFor) {
  Alarms alarms;
  EXPECT_EQ(alarms.Next(), base::SteadyTime::max());
  EXPECT_EQ(Take(alarms, kNow), 0);
}

TEST(AlarmsTest, TheyAreTakenInTheOrderOfTheirTimes) {
  Alarms alarms;
  alarms.Set(kNow + seconds(2), Lane(2));
  alarms.Set(kNow + seconds(1), Lane(1));
  EXPECT_EQ(alarms.Next(), kNow + seconds(1));
  EXPECT_EQ(Take(alarms, kNow), 0);
  EXPECT_EQ(Take(alarms, kNow + seconds(2)), 1);
  EXPECT_EQ(Take(alarms, kNow + seconds(2)), 2);
  EXPECT_EQ(Take(alarms, kNow + seconds(2)), 0);
}

TEST(AlarmsTest, OfOneTimeTheFirstComesFirst) {
  Alarms alarms;
  for (int64_t lane = 1; lane <= 3; ++lane) alarms.Set(kNow, Lane(lane));
  for (int64_t lane = 1; lane <= 3; ++lane) EXPECT_EQ(Take(alarms, kNow), lane);
}

TEST(AlarmsTest, ACancelledOneIsNotTaken) {
  Alarms alarms;
  const Alarms::Id first = alarms.Set(kNow, Lane(1));
  alarms.Set(kNow, Lane(2));
  EXPECT_NE(first, 0u) << "0 is never used";
  alarms.Cancel(first);
  alarms.Cancel(first);
  alarms.Cancel(0);
  EXPECT_EQ(Take(alarms, kNow), 2);
  EXPECT_EQ(alarms.Next(), base::SteadyTime::max());
}

TEST(AlarmsTest, OneOfATicketNamesIt) {
  Alarms alarms;
  const auto ticket = std::make_shared<Ticket>();
  alarms.Set(kNow, ticket);
  Alarms::Target target;
  ASSERT_TRUE(alarms.TakeDue(kNow, &target));
  EXPECT_EQ(std::get<TicketPtr>(target), ticket);
}

}  // namespace
}  // namespace skiplane::broker
