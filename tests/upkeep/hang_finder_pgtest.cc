#include "server/upkeep/hang_finder.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using testing::Required;

class HangFinderTest : public testing::UpkeepHarness {
 protected:
  void SetLimits(const std::string& settings) {
    Sql(absl::StrCat("UPDATE skiplane.queue SET settings = settings || '", settings,
                     "' WHERE id = (SELECT queue_id FROM skiplane.queue_lane WHERE lane = ", lane_,
                     ")"));
  }
  // As if all leases of these tasks had been made two minutes ago.
  void MakeOld(const std::string& tasks) {
    Sql(absl::StrCat("UPDATE skiplane.task SET lease_time = lease_time - interval '2 minutes', "
                     "lease_number = lease_number - 120000000 WHERE state = 2 AND ", tasks));
    Sql("UPDATE skiplane.lease_ledger l SET lease_numbers = ARRAY("
        "SELECT t.lease_number FROM unnest(l.tasks) WITH ORDINALITY u(id, n) "
        "JOIN skiplane.task t ON t.lane = l.lane AND t.id = u.id ORDER BY u.n)");
  }
  HangResult FindAll() {
    HangFinder finder(&metrics_);
    HangResult all;
    for (bool is_complete = false; !is_complete;) {
      const HangResult pass = Required(finder.RunOnce(*session_));
      all.freed += pass.freed;
      all.failed += pass.failed;
      is_complete = pass.is_complete;
    }
    return all;
  }
};

TEST_F(HangFinderTest, TakesBackWhatRunsLongerThanItMay) {
  SetLimits(R"({"max_run_duration_us": 60000000})");
  Put(2);
  const auto tokens = testing::TokensOf(Take(2, Worker("living")));
  EXPECT_EQ(FindAll().freed, 0);
  MakeOld(absl::StrCat("id = ", tokens[1].task.id));
  EXPECT_EQ(FindAll().freed, 1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history WHERE error_type = 'HANGED'"), 1);
  EXPECT_EQ(Settle({tokens[0]}, store::Action::kAck), 1u);
}

// Leases that may run on were looked at again and again: those behind them were never found.
TEST_F(HangFinderTest, GoesOnBehindLeasesThatMayRunOn) {
  SetLimits(R"({"stages": [{"name": "fast", "max_run_duration_us": 60000000}, {"name": "slow"}]})");
  constexpr int kRows = 4;  // of 2,000 leases each, and one that hangs
  Put(kRows * 2000 + 1);
  for (int i = 0; i < kRows; ++i) Take(2000, Worker("living"));
  Take(1, Worker("living"));
  const std::string last = "id = (SELECT max(id) FROM skiplane.task)";
  Sql(absl::StrCat("UPDATE skiplane.task SET stage = 1 WHERE NOT ", last,
                   "; UPDATE skiplane.lease_ledger SET id = repeat('f', 32)::uuid "
                   "WHERE cardinality(tasks) = 1"));
  Sql("INSERT INTO skiplane.counter_delta (lane, stage, due, leased) SELECT lane, 1, 0, count(*) "
      "FROM skiplane.task WHERE stage = 1 GROUP BY lane UNION ALL SELECT lane, 0, 0, -count(*) "
      "FROM skiplane.task WHERE stage = 1 GROUP BY lane");
  MakeOld("true");
  EXPECT_EQ(FindAll().freed, 1);
  EXPECT_EQ(Tasks("state = 2"), kRows * 2000);
}

}  // namespace
}  // namespace skiplane::upkeep
