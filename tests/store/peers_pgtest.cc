#include "server/store/peers.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/pg/connections/listener.h"
#include "tests/pg/connections/heard.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::Required;
using testing::UuidOf;

constexpr absl::Duration kMinute = absl::Minutes(1);

class PeersTest : public testing::StoreHarness {
 protected:
  absl::StatusOr<int64_t> Renew(uint8_t broker) {
    const auto peers = RenewBroker(*session_, {UuidOf(broker), "broker", "0.2.0"}, kMinute);
    if (!peers.ok()) return peers.status();
    all_read_packs_ = peers->all_read_packs;
    return peers->count;
  }

  bool Leads(uint8_t broker) {
    return Required(TakeLead(*session_, UuidOf(broker), kMinute)).is_leader;
  }

  bool all_read_packs_ = false;  // as the last renewal told
};

TEST_F(PeersTest, BrokersAreListedWithTheirVersionsAndWhoLeads) {
  Required(Renew(2));
  Required(Renew(1));
  EXPECT_TRUE(Leads(2));
  const std::vector<model::RunningBroker> brokers = Required(ListBrokers(*session_, 10));
  ASSERT_EQ(brokers.size(), 2U);
  EXPECT_EQ(brokers[0].id, UuidOf(1));
  EXPECT_EQ(brokers[0].version, "0.2.0");
  EXPECT_TRUE(brokers[0].start_time.has_value());
  EXPECT_FALSE(brokers[0].is_leader);
  EXPECT_TRUE(brokers[1].is_leader);
  EXPECT_GE(Required(ReadServedDatabase(*session_)).schema_version, 9);
}

TEST_F(PeersTest, ARenewalTellsHowManyOthersRun) {
  EXPECT_THAT(Renew(1), IsOkAndHolds(0));
  EXPECT_THAT(Renew(2), IsOkAndHolds(1));
  EXPECT_THAT(Renew(3), IsOkAndHolds(2));
  EXPECT_THAT(Renew(1), IsOkAndHolds(2));
  ASSERT_THAT(ForgetBroker(*session_, UuidOf(2)), IsOk());
  EXPECT_THAT(Renew(1), IsOkAndHolds(1));
}

// A broker before 0.2 says nothing of packs, and finds none.
TEST_F(PeersTest, WhileAnOlderBrokerRunsNotAllReadPacks) {
  Required(Renew(1));
  EXPECT_TRUE(all_read_packs_);
  Sql("INSERT INTO skiplane.broker (id, name, expire_time) "
      "VALUES (repeat('02', 16)::uuid, 'older', now() + interval '1 minute')");
  Required(Renew(1));
  EXPECT_FALSE(all_read_packs_);
  Required(Renew(2));  // started again, as this version
  Required(Renew(1));
  EXPECT_TRUE(all_read_packs_);
}

// It may be frozen, and go on: then it would take the leases of packed tasks out of the ledger.
TEST_F(PeersTest, AnOlderBrokerThatFellSilentCountsForAnHour) {
  Sql("INSERT INTO skiplane.broker (id, name, expire_time) "
      "VALUES (repeat('02', 16)::uuid, 'older', now() - interval '59 minutes')");
  EXPECT_THAT(Renew(1), IsOkAndHolds(0));
  EXPECT_FALSE(all_read_packs_);
  Sql("UPDATE skiplane.broker SET expire_time = now() - interval '61 minutes' "
      "WHERE name = 'older'");
  Required(Renew(1));
  EXPECT_TRUE(all_read_packs_);
}

TEST_F(PeersTest, ASilentBrokerDoesNotCount) {
  Renew(1).IgnoreError();
  Renew(2).IgnoreError();
  Sql("UPDATE skiplane.broker SET expire_time = now() - interval '1 second'");
  EXPECT_THAT(Renew(1), IsOkAndHolds(0));
  EXPECT_THAT(Renew(2), IsOkAndHolds(1)) << "it came back";
}

TEST_F(PeersTest, ForgettingClearsThoseThatFellSilentLongAgo) {
  for (uint8_t broker = 1; broker <= 3; ++broker) Required(Renew(broker));
  Sql("UPDATE skiplane.broker SET expire_time = now() - interval '2 hours' "
      "WHERE id = repeat('02', 16)::uuid");
  ASSERT_THAT(ForgetBroker(*session_, UuidOf(1)), IsOk());
  EXPECT_EQ(Sql("SELECT string_agg(id::text, ' ') FROM skiplane.broker"),
            "03030303-0303-0303-0303-030303030303");
}

TEST_F(PeersTest, OneLeadsUntilItResigns) {
  EXPECT_TRUE(Leads(1));
  EXPECT_FALSE(Leads(2));
  EXPECT_TRUE(Leads(1));
  ASSERT_THAT(ResignLead(*session_, UuidOf(2)), IsOk());
  EXPECT_FALSE(Leads(2)) << "only the leader can resign";
  ASSERT_THAT(ResignLead(*session_, UuidOf(1)), IsOk());
  EXPECT_TRUE(Leads(2));
  EXPECT_FALSE(Leads(1));
}

TEST_F(PeersTest, TheLeadOfASilentBrokerEnds) {
  EXPECT_TRUE(Leads(1));
  Sql("UPDATE skiplane.upkeep_lead SET expire_time = now() - interval '1 second'");
  EXPECT_TRUE(Leads(2));
  EXPECT_FALSE(Leads(1));
}

// A mark that came after one made a frozen server, or a clock that went back, look as if nothing
// had been.
TEST_F(PeersTest, AMarkIsKeptUpOnlyWhileItIsFresh) {
  Required(TakeLead(*session_, UuidOf(1), kMinute));
  EXPECT_THAT(KeepMark(*session_, UuidOf(1)), IsOkAndHolds(false)) << "there is none";
  ASSERT_THAT(MarkReclaimed(*session_, UuidOf(1)), IsOk());
  EXPECT_THAT(KeepMark(*session_, UuidOf(1)), IsOkAndHolds(true));
  EXPECT_THAT(KeepMark(*session_, UuidOf(2)), IsOkAndHolds(false));
  for (const char* const away : {"interval '3 seconds'", "interval '-1 hour'"}) {
    Sql(absl::StrCat("UPDATE skiplane.upkeep_lead SET reclaim_time = now() - ", away));
    EXPECT_THAT(KeepMark(*session_, UuidOf(1)), IsOkAndHolds(false)) << away;
  }
}

TEST_F(PeersTest, ALeaderLearnsWhenTheDeadWereLookedForLast) {
  EXPECT_EQ(Required(TakeLead(*session_, UuidOf(1), kMinute)).reclaimed_ago, std::nullopt);
  ASSERT_THAT(MarkReclaimed(*session_, UuidOf(2)), IsOk());
  EXPECT_EQ(Required(TakeLead(*session_, UuidOf(1), kMinute)).reclaimed_ago, std::nullopt)
      << "who does not lead notes nothing";
  ASSERT_THAT(MarkReclaimed(*session_, UuidOf(1)), IsOk());
  Sql("UPDATE skiplane.upkeep_lead SET reclaim_time = reclaim_time - interval '1 hour'");
  const Lead lead = Required(TakeLead(*session_, UuidOf(1), kMinute));
  ASSERT_TRUE(lead.reclaimed_ago.has_value());
  EXPECT_GT(*lead.reclaimed_ago, absl::Minutes(59));
  EXPECT_LT(*lead.reclaimed_ago, absl::Minutes(70));
}

TEST_F(PeersTest, NotificationsAreHeardInOrder) {
  testing::Heard<std::string> heard;
  testing::Heard<bool> states;
  pg::Listener listener(
      Options(), kNotificationChannel,
      [&heard](absl::string_view payload) { heard.Add(std::string(payload)); },
      [&states](bool listening) { states.Add(listening); });
  ASSERT_TRUE(states.WaitFor(true));
  ASSERT_THAT(SendNotifications(*session_, {"one", "two, with 'quotes'", "three"}), IsOk());
  EXPECT_TRUE(heard.WaitForCount(3));
  EXPECT_THAT(heard.values(), ElementsAre("one", "two, with 'quotes'", "three"));
}

}  // namespace
}  // namespace skiplane::store
