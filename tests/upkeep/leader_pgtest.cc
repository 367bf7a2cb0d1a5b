#include "server/upkeep/leader.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::Required;

class LeaderTest : public testing::UpkeepHarness {
 protected:
  // Who leads still does so at the next call, however slow this machine is. A later end would look
  // as if the clock had gone back.
  bool Leads(Leader& leader) {
    const bool is_leader = Required(leader.RunOnce(*session_)).is_leader;
    if (is_leader) Sql("UPDATE skiplane.upkeep_lead SET expire_time = now() + interval '10 s'");
    return is_leader;
  }

  Leader first_{testing::UuidOf(201), &metrics_};
  metrics::Metrics other_metrics_{"test", "test"};
  Leader second_{testing::UuidOf(202), &other_metrics_};
};

TEST_F(LeaderTest, OneLeadsAndKeepsTheLead) {
  EXPECT_TRUE(Leads(first_));
  EXPECT_FALSE(Leads(second_));
  EXPECT_TRUE(Leads(first_));
  EXPECT_FALSE(Leads(second_));
}

TEST_F(LeaderTest, TheSecondLeadsOnceTheFirstResigned) {
  ASSERT_TRUE(Leads(first_));
  ASSERT_THAT(first_.Resign(*session_), IsOk());
  EXPECT_TRUE(Leads(second_));
  EXPECT_FALSE(Leads(first_));
}

TEST_F(LeaderTest, TheSecondLeadsOnceTheTimeOfTheFirstIsOver) {
  ASSERT_TRUE(Leads(first_));
  Sql("UPDATE skiplane.upkeep_lead SET expire_time = now() - interval '1 ms'");
  EXPECT_TRUE(Leads(second_));
  EXPECT_FALSE(Leads(first_));
}

TEST_F(LeaderTest, ResigningTakesTheLeadFromNobodyElse) {
  ASSERT_TRUE(Leads(first_));
  ASSERT_THAT(second_.Resign(*session_), IsOk());
  EXPECT_FALSE(Leads(second_));
}

TEST_F(LeaderTest, TheMetricsSayWhoLeads) {
  Leads(first_);
  Leads(second_);
  EXPECT_THAT(metrics_.Text(), HasSubstr("skiplane_leader 1\n"));
  EXPECT_THAT(other_metrics_.Text(), HasSubstr("skiplane_leader 0\n"));
  first_.Doubt();
  EXPECT_THAT(metrics_.Text(), HasSubstr("skiplane_leader 0\n"));
}

TEST_F(LeaderTest, TheLeadSaysWhenTheDeadWereLastLookedFor) {
  EXPECT_FALSE(Required(first_.RunOnce(*session_)).reclaimed_ago.has_value());
  ASSERT_THAT(store::MarkReclaimed(*session_, testing::UuidOf(201)), IsOk());
  Sql("UPDATE skiplane.upkeep_lead SET reclaim_time = now() - interval '1 hour'");
  EXPECT_GE(Required(first_.RunOnce(*session_)).reclaimed_ago, absl::Hours(1));
}

}  // namespace
}  // namespace skiplane::upkeep
