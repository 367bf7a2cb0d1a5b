#include "server/upkeep/vacuum.h"

#include <chrono>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "server/base/log.h"
#include "server/upkeep/upkeep.h"
#include "tests/pg/session_harness.h"
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
// A test that waits longer has failed.
constexpr std::chrono::seconds kBound(60);
// The vacuum of a broker, whatever statistics PostgreSQL keeps.
constexpr char kVacuumLock[] =
    "FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.granted AND "
    "l.relation = 'skiplane.task'::regclass AND l.mode = 'ShareUpdateExclusiveLock' AND "
    "l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND "
    "a.backend_type = 'client backend'";

class VacuumTest : public testing::UpkeepHarness {
 protected:
  VacuumTest() : UpkeepHarness(User::kSuperuser) {  // a broker may not vacuum
    // PostgreSQL's own vacuum would now and then give back what a test counts.
    Sql("ALTER TABLE skiplane.task SET (autovacuum_enabled = off)");
  }

  // What tests can fill is much to give back, at the first check.
  static VacuumOptions Eager(int checks = 1) {
    return {.bounds = {.table_pages_min = 100, .index_pages_min = 10, .rebuilt_pages_max = 20},
            .checks = checks};
  }

  // Leaves about 3 MB that hold nothing.
  void FillAndDrain() const {
    Fill();
    Sql(absl::StrCat("DELETE FROM skiplane.task", kNoted));
  }
  void Fill() const {
    Sql("INSERT INTO skiplane.task (lane, id, schedule_time, create_time, max_attempts, payload) "
        "SELECT 1, 1000000 + i, now(), now(), 10, decode(repeat('55', 200), 'hex') "
        "FROM generate_series(1, 5000) i" + std::string(kNoted));
  }
  int64_t Pages() const {
    return Number("SELECT pg_relation_size('skiplane.task') / 8192");
  }
  int64_t IndexPages() const {
    return Number("SELECT pg_indexes_size('skiplane.task') / 8192");
  }
  // Dead rows stay while somebody has an old snapshot, such as autovacuum's of another table: then
  // the next run gives them back.
  VacuumResult RunUntil(int64_t pages_most, Vacuum& vacuum, pg::Session& session) const {
    const auto end = std::chrono::steady_clock::now() + kBound;
    VacuumResult sum;
    do {
      testing::Require(std::chrono::steady_clock::now() < end, "the space does not come back");
      const VacuumResult once = Required(vacuum.RunOnce(session));
      sum.steps += once.steps;
      sum.bytes += once.bytes;
    } while (Pages() > pages_most);
    return sum;
  }
  // Ends the test program if that does not come true. Asks by many statements: the snapshot of one
  // that waits would keep the dead rows, if another test's transaction is older than they.
  void AwaitInSql(const std::string& condition) const {
    const auto end = std::chrono::steady_clock::now() + kBound;
    while (Sql(absl::StrCat("SELECT (", condition, ")::text")) != "true") {
      testing::Require(std::chrono::steady_clock::now() < end, condition);
    }
  }

  // From now on each vacuum takes an hour, and waits nearly all the time.
  void SlowDown() const {
    Sql(absl::StrCat("ALTER DATABASE ", database_.name(), " SET vacuum_cost_limit = 1"));
    Sql(absl::StrCat("ALTER DATABASE ", database_.name(), " SET vacuum_cost_delay = '100ms'"));
  }
  UpkeepOptions EagerUpkeep() const {
    return {.connect = Options(), .broker_id = testing::UuidOf(201), .broker_name = "test",
            .vacuum_interval = absl::Milliseconds(5), .vacuum = Eager()};
  }
  // As each role of a broker.
  void LetReadCounters(const std::string& role) const {
    Sql("GRANT USAGE ON SCHEMA skiplane TO " + role);
    Sql("GRANT SELECT ON skiplane.counter, skiplane.counter_delta TO " + role);
  }
  // Whether that ends while the test waits.
  static bool Ends(std::future<void>& work) {
    return work.wait_for(kBound) == std::future_status::ready;
  }

  static std::string LoggedBy(absl::FunctionRef<void()> work) {
    base::FlushLog();
    ::testing::internal::CaptureStderr();
    work();
    base::FlushLog();
    return ::testing::internal::GetCapturedStderr();
  }
  static std::string Logged(Vacuum& vacuum, pg::Session& session) {
    return LoggedBy([&] { Required(vacuum.RunOnce(session)); });
  }
};

TEST_F(VacuumTest, TheSpaceOfADrainedQueueComesBack) {
  FillAndDrain();
  const int64_t full = Pages();
  ASSERT_GT(full, 300);
  Vacuum vacuum(Eager());
  const VacuumResult cut = RunUntil(0, vacuum, *session_);
  EXPECT_GE(cut.bytes, (full - 10) * 8192) << "less the map of free space that it may make";
  const int64_t index_pages = IndexPages();
  Required(vacuum.RunOnce(*session_));
  EXPECT_LT(IndexPages(), index_pages / 4);
  EXPECT_EQ(Required(vacuum.RunOnce(*session_)).steps, 0);
}

TEST_F(VacuumTest, SpaceComesBackAlsoIfAnAutovacuumOverlappedTheEndOfTheDrain) {
  const int64_t id = PutOne();
  Fill();
  const int64_t full = Pages();
  Sql("VACUUM skiplane.task");
  // What is deleted while a vacuum runs is in no statistic of PostgreSQL afterwards.
  Sql("SET track_counts = off; DELETE FROM skiplane.task WHERE payload <> ''");
  ASSERT_EQ(Number("SELECT pg_stat_get_live_tuples('skiplane.task'::regclass)"), 5001);
  Vacuum vacuum(Eager());
  EXPECT_GE(RunUntil(20, vacuum, *session_).bytes, (full - 20) * 8192);
  EXPECT_THAT(testing::IdsOf(Take(2)), ::testing::ElementsAre(id));
}

// By itself PostgreSQL does not take dead rows out of indexes for so few pages, and keeps them.
TEST_F(VacuumTest, SpaceComesBackAlsoIfTheLastTasksLieOnFewPages) {
  Fill();
  Sql("DELETE FROM skiplane.task WHERE id < (SELECT max(id) FROM skiplane.task)");
  Sql("VACUUM (INDEX_CLEANUP ON) skiplane.task");
  ASSERT_GT(Pages(), 300);
  Sql(absl::StrCat("DELETE FROM skiplane.task", kNoted));
  Vacuum vacuum(Eager());
  RunUntil(0, vacuum, *session_);
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
  Vacuum vacuum(Eager(/*checks=*/3));
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
  // The task below may have any free page: the file is cut behind that one, and a file of less than
  // 100 pages is left alone.
  std::thread thread([&] { RunUntil(99, vacuum, *cutter); });
  AwaitInSql(absl::StrCat(
      "EXISTS (SELECT FROM pg_stat_progress_vacuum WHERE phase = 'truncating heap' AND pid = ",
      cutter->backend_pid(), ")"));
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
  LetReadCounters(role);
  const auto weak = Open();
  Required(weak->RunText("SET ROLE " + role));
  Vacuum vacuum(Eager());
  EXPECT_THAT(Logged(vacuum, *weak),
              AllOf(HasSubstr("space_kept"), HasSubstr("VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, "
                                                       "TRUNCATE, PARALLEL 0) skiplane.task")));
  EXPECT_THAT(Logged(vacuum, *weak), IsEmpty());
  EXPECT_GT(Pages(), 300);
  Sql("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(VacuumTest, TheOwnerOfTheDatabaseCutsTablesAndLeavesIndexesToTheirOwner) {
  FillAndDrain();
  const std::string role = "owner_" + database_.name();
  Sql("CREATE ROLE " + role);
  LetReadCounters(role);
  Sql("ALTER DATABASE " + database_.name() + " OWNER TO " + role);
  const auto owner = Open();
  Required(owner->RunText("SET ROLE " + role));
  Vacuum vacuum(Eager());
  EXPECT_THAT(LoggedBy([&] {
                RunUntil(0, vacuum, *owner);
                for (int i = 0; i < 2; ++i) EXPECT_THAT(vacuum.RunOnce(*owner), testing::IsOk());
              }),
              AllOf(HasSubstr("space_given_back"), HasSubstr("space_kept"),
                    HasSubstr("REINDEX INDEX skiplane.task_")));
  Sql("REASSIGN OWNED BY " + role + " TO CURRENT_USER; DROP OWNED BY " + role);
  Sql("DROP ROLE " + role);
}

TEST_F(VacuumTest, TheLeaderDoesItByItself) {
  FillAndDrain();
  Upkeep upkeep(EagerUpkeep(), &metrics_);
  upkeep.Start();
  AwaitInSql("pg_relation_size('skiplane.task') = 0 AND "
             "pg_relation_size('skiplane.task_lease_order') <= 8192");
  upkeep.Stop();
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("skiplane_chore_failures_total{chore=\"vacuum\"} 0"));
}

TEST_F(VacuumTest, ACommandThatTakesLongIsStoppedWithTheBroker) {
  FillAndDrain();
  SlowDown();
  Upkeep upkeep(EagerUpkeep(), &metrics_);
  upkeep.Start();
  AwaitInSql(absl::StrCat("EXISTS (SELECT ", kVacuumLock, ")"));
  upkeep.Stop();
  EXPECT_EQ(Number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                   "state = 'active' AND query LIKE 'VACUUM%'"),
            0);
  EXPECT_GT(Pages(), 300);
}

TEST_F(VacuumTest, ABrokerEndsAlthoughTheProcessThatVacuumsIsFrozen) {
  FillAndDrain();
  SlowDown();
  Upkeep upkeep(EagerUpkeep(), &metrics_);
  upkeep.Start();
  AwaitInSql(absl::StrCat("EXISTS (SELECT ", kVacuumLock, ")"));
  std::future<void> stop;
  {
    const testing::Frozen frozen(
        static_cast<pid_t>(Number(absl::StrCat("SELECT a.pid ", kVacuumLock))));
    stop = std::async(std::launch::async, [&] { upkeep.Stop(); });
    EXPECT_TRUE(Ends(stop)) << "it waits for PostgreSQL";
  }
  stop.get();
}

TEST_F(VacuumTest, ACommandIsStoppedAlsoWhereNobodySeesWhatBackendsDo) {
  FillAndDrain();
  SlowDown();
  Sql(absl::StrCat("ALTER DATABASE ", database_.name(), " SET track_activities = off"));
  Upkeep upkeep(EagerUpkeep(), &metrics_);
  upkeep.Start();
  AwaitInSql(absl::StrCat("EXISTS (SELECT ", kVacuumLock, ")"));
  auto stop = std::async(std::launch::async, [&] { upkeep.Stop(); });
  EXPECT_TRUE(Ends(stop)) << "it waits for PostgreSQL";
  EXPECT_EQ(Number(absl::StrCat("SELECT count(*) ", kVacuumLock)), 0);
  Sql(absl::StrCat("SELECT pg_terminate_backend(a.pid) ", kVacuumLock));
  stop.get();
}

}  // namespace
}  // namespace skiplane::upkeep
