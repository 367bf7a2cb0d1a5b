#include "server/upkeep/vacuum.h"

#include <thread>

#include "gmock/gmock.h"
#include "server/base/log.h"
#include "server/upkeep/upkeep.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Required;

// PostgreSQL knows of it when the statement ends, not a second later.
constexpr char kNoted[] = "; SELECT pg_stat_force_next_flush()";

class VacuumTest : public testing::UpkeepHarness {
 protected:
  // What tests can fill is much to give back, at the first look.
  static VacuumOptions Eager(int looks = 1) {
    return {.bounds = {.table_pages_min = 100, .index_pages_min = 10, .rebuilt_pages_max = 20},
            .looks = looks};
  }

  // Leaves about 3 MB that hold nothing.
  void FillAndDrain() const {
    Fill();
    Sql(absl::StrCat("DELETE FROM skiplane.task", kNoted));
  }
  void Fill() const {
    Sql("INSERT INTO skiplane.task (lane, id, run_at, created_at, max_attempts, payload) "
        "SELECT 1, 1000000 + i, now(), now(), 10, decode(repeat('55', 200), 'hex') "
        "FROM generate_series(1, 5000) i" + std::string(kNoted));
  }
  int64_t Pages() const {
    return Number("SELECT pg_relation_size('skiplane.task') / 8192");
  }
  int64_t IndexPages() const {
    return Number("SELECT pg_indexes_size('skiplane.task') / 8192");
  }
  // Dead rows stay while somebody has an old snapshot, such as autovacuum's own: then the next run
  // gives them back.
  VacuumResult RunUntil(int64_t pages_most, Vacuum& vacuum, pg::Session& session) const {
    VacuumResult sum;
    do {
      const VacuumResult once = Required(vacuum.RunOnce(session));
      sum.steps += once.steps;
      sum.bytes += once.bytes;
    } while (Pages() > pages_most);
    return sum;
  }
  void AwaitInSql(const std::string& condition) const {
    Sql(absl::StrCat("DO $$ BEGIN WHILE NOT (", condition,
                     ") LOOP PERFORM pg_stat_clear_snapshot(); END LOOP; END $$"));
  }

  std::string Logged(Vacuum& vacuum, pg::Session& session) {
    base::FlushLog();
    ::testing::internal::CaptureStderr();
    Required(vacuum.RunOnce(session));
    base::FlushLog();
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(VacuumTest, TheSpaceOfADrainedQueueComesBack) {
  FillAndDrain();
  const int64_t full = Pages();
  ASSERT_GT(full, 300);
  Vacuum vacuum(Eager());
  const VacuumResult cut = RunUntil(0, vacuum, *session_);
  EXPECT_GE(cut.bytes, full * 8192);
  const int64_t index_pages = IndexPages();
  Required(vacuum.RunOnce(*session_));
  EXPECT_LT(IndexPages(), index_pages / 4);
  EXPECT_EQ(Required(vacuum.RunOnce(*session_)).steps, 0);
}

TEST_F(VacuumTest, TasksThatAreLeftStayAsTheyAre) {
  const std::vector<int64_t> ids = Put(10);
  Fill();
  Sql(absl::StrCat("DELETE FROM skiplane.task WHERE payload <> ''", kNoted));
  Vacuum vacuum(Eager());
  EXPECT_GT(RunUntil(20, vacuum, *session_).bytes, 0);
  Required(vacuum.RunOnce(*session_));
  EXPECT_EQ(testing::IdsOf(Take(20)), ids);
}

TEST_F(VacuumTest, ATableThatIsEmptyForAMomentKeepsItsPages) {
  FillAndDrain();
  Vacuum vacuum(Eager(/*looks=*/3));
  Required(vacuum.RunOnce(*session_));
  Required(vacuum.RunOnce(*session_));
  Put(1000);
  Required(session_->RunText(kNoted));
  EXPECT_EQ(Required(vacuum.RunOnce(*session_)).steps, 0);
  Settle(testing::TokensOf(Take(1000)), store::Action::kAck);
  Required(session_->RunText(kNoted));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Required(vacuum.RunOnce(*session_)).steps, 0);
  EXPECT_EQ(Required(vacuum.RunOnce(*session_)).steps, 1);
}

TEST_F(VacuumTest, NobodyWaitsForItWhileItWaits) {
  FillAndDrain();
  const auto holder = Open();
  Required(holder->RunText(
      "SET idle_in_transaction_session_timeout = 0; BEGIN; "
      "LOCK TABLE skiplane.task IN ROW EXCLUSIVE MODE"));
  const auto cutter = Open();
  Vacuum vacuum(Eager());
  std::thread thread([&] { RunUntil(20, vacuum, *cutter); });
  AwaitInSql("EXISTS (SELECT FROM pg_stat_progress_vacuum WHERE phase = 'truncating heap')");
  Required(session_->RunText("SET lock_timeout = '1ms'"));
  PutOne();
  EXPECT_EQ(Settle({TakeOne()}, store::Action::kAck), 1u);
  Required(holder->RunText("COMMIT"));
  thread.join();
}

TEST_F(VacuumTest, ARoleThatDoesNotOwnTheTablesSaysSoOnce) {
  FillAndDrain();
  const std::string role = "weak_" + database_.name();
  Sql("CREATE ROLE " + role);
  const auto weak = Open();
  Required(weak->RunText("SET ROLE " + role));
  Vacuum vacuum(Eager());
  EXPECT_THAT(Logged(vacuum, *weak),
              AllOf(HasSubstr("space_kept"), HasSubstr("VACUUM (SKIP_LOCKED, TRUNCATE, "
                                                       "PARALLEL 0) skiplane.task")));
  EXPECT_THAT(Logged(vacuum, *weak), IsEmpty());
  EXPECT_GT(Pages(), 300);
  Sql("DROP ROLE " + role);
}

TEST_F(VacuumTest, TheLeaderDoesItByItself) {
  FillAndDrain();
  Upkeep upkeep({.connect = Options(), .broker_id = testing::UuidOf(201), .broker_name = "test",
                 .vacuum_interval = absl::Milliseconds(5), .vacuum = Eager()},
                &metrics_);
  upkeep.Start();
  AwaitInSql("pg_relation_size('skiplane.task') = 0 AND "
             "pg_relation_size('skiplane.task_claim') <= 8192");
  upkeep.Stop();
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("skiplane_maintenance_failures_total{job=\"vacuum\"} 0"));
}

TEST_F(VacuumTest, ACommandThatTakesLongIsStoppedWithTheBroker) {
  FillAndDrain();
  // Now it takes an hour.
  Sql(absl::StrCat("ALTER DATABASE ", database_.name(), " SET vacuum_cost_limit = 1"));
  Sql(absl::StrCat("ALTER DATABASE ", database_.name(), " SET vacuum_cost_delay = '100ms'"));
  Upkeep upkeep({.connect = Options(), .broker_id = testing::UuidOf(201), .broker_name = "test",
                 .vacuum_interval = absl::Milliseconds(5), .vacuum = Eager()},
                &metrics_);
  upkeep.Start();
  AwaitInSql("EXISTS (SELECT FROM pg_stat_progress_vacuum)");
  upkeep.Stop();
  EXPECT_EQ(Number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                   "state = 'active' AND query LIKE 'VACUUM%'"),
            0);
  EXPECT_GT(Pages(), 300);
}

}  // namespace
}  // namespace skiplane::upkeep
