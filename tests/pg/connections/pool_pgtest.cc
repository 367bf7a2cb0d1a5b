#include "server/pg/connections/pool.h"

#include <atomic>

#include "gmock/gmock.h"
#include "server/metrics/metrics.h"
#include "tests/pg/connections/heard.h"
#include "tests/pg/session_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::pg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Heard;
using testing::IsOk;
using testing::ReasonIs;

constexpr char kNowhere[] = "host=/nonexistent";

Pool::OnChange Nobody() {
  return [](bool) {};
}

class PoolTest : public testing::SessionHarness {
 protected:
  // Runs one job and returns the pid of the backend that it was given, or why there was none.
  absl::StatusOr<int> Ask(Pool& pool) {
    Heard<absl::StatusOr<int>> heard;
    pool.Submit([&heard](absl::StatusOr<Session*> session) {
      if (!session.ok()) return heard.Add(session.status());
      const absl::StatusOr<Rows> rows = (*session)->RunText("SELECT 1");
      heard.Add(rows.ok() ? absl::StatusOr<int>((*session)->backend_pid()) : rows.status());
    });
    if (!heard.WaitForCount(1)) return absl::DeadlineExceededError("the job did not run");
    return heard.values()[0];
  }
};

TEST_F(PoolTest, JobsRunInTheOrderOfTheirSubmission) {
  Heard<int> heard;
  Pool pool(Options(), 1, nullptr, Nobody());
  for (int i = 0; i < 100; ++i) {
    pool.Submit([&heard, i](absl::StatusOr<Session*> session) {
      heard.Add(session.ok() ? i : -1);
    });
  }
  ASSERT_TRUE(heard.WaitForCount(100));
  const std::vector<int> order = heard.values();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(PoolTest, EveryThreadHasASessionOfItsOwn) {
  Heard<int> pids;
  Pool pool(Options(), 2, nullptr, Nobody());
  for (int i = 0; i < 2; ++i) {
    pool.Submit([&pids](absl::StatusOr<Session*> session) {
      pids.Add(testing::Required(session)->backend_pid());
      // Neither job ends before both have begun.
      pids.WaitForCount(2);
    });
  }
  ASSERT_TRUE(pids.WaitForCount(2));
  EXPECT_NE(pids.values()[0], pids.values()[1]);
}

TEST_F(PoolTest, WaitingCountsTheJobsThatNoThreadHasTaken) {
  Heard<bool> heard;
  Pool pool(Options(), 1, nullptr, Nobody());
  Heard<bool> gate;
  pool.Submit([&](absl::StatusOr<Session*>) {
    heard.Add(true);
    gate.WaitForCount(1);
  });
  ASSERT_TRUE(heard.WaitForCount(1));
  pool.Submit([](absl::StatusOr<Session*>) {});
  EXPECT_EQ(pool.waiting(), 1);
  gate.Add(true);
  pool.Stop();
  EXPECT_EQ(pool.waiting(), 0);
}

TEST_F(PoolTest, TheGaugeCountsWhatCameWhileAllThreadsWereHeldUp) {
  metrics::Metrics metrics("1.2.3", "abc");
  Heard<bool> heard;
  Heard<bool> gate;
  Pool pool(Options(), 1, &metrics, Nobody());
  pool.Submit([&](absl::StatusOr<Session*>) {
    heard.Add(true);
    gate.WaitForCount(1);
  });
  ASSERT_TRUE(heard.WaitForCount(1));
  for (int i = 0; i < 3; ++i) pool.Submit([](absl::StatusOr<Session*>) {});
  EXPECT_THAT(metrics.Text(), HasSubstr("skiplane_db_pool_waiting_statements 3\n"));
  gate.Add(true);
  pool.Stop();
  EXPECT_THAT(metrics.Text(), HasSubstr("skiplane_db_pool_waiting_statements 0\n"));
}

TEST_F(PoolTest, WithoutAServerJobsFailAndThePoolSaysSo) {
  Heard<bool> changes;
  Pool pool({.uri = kNowhere}, 2, nullptr, [&](bool connected) { changes.Add(connected); });
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(Ask(pool), ReasonIs("DATABASE_UNAVAILABLE"));
  }
  EXPECT_FALSE(pool.connected());
  pool.Stop();
  EXPECT_THAT(changes.values(), IsEmpty());
}

TEST_F(PoolTest, ATerminatedBackendIsReplacedWithoutAJob) {
  Heard<bool> changes;
  Pool pool(Options(), 1, nullptr, [&](bool connected) { changes.Add(connected); });
  const absl::StatusOr<int> before = Ask(pool);
  ASSERT_THAT(before, IsOk());
  ASSERT_TRUE(changes.WaitForCount(1));
  Terminate(*before);
  ASSERT_TRUE(changes.WaitForCount(3));
  EXPECT_THAT(changes.values(), ElementsAre(true, false, true));
  const absl::StatusOr<int> after = Ask(pool);
  ASSERT_THAT(after, IsOk());
  EXPECT_NE(*after, *before);
}

TEST_F(PoolTest, NoJobSeesTheBackendsThatWereTerminatedWhileIdle) {
  Pool pool(Options(), 3, nullptr, Nobody());
  for (int round = 0; round < 20; ++round) {
    ASSERT_THAT(Ask(pool), IsOk());
    testing::RunSql(testing::Cluster::Shared().uri("postgres"),
                    absl::StrCat("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                                 "WHERE datname = '", database_.name(), "'"));
  }
  EXPECT_THAT(Ask(pool), IsOk());
}

TEST_F(PoolTest, ABackendLostInMidJobIsReplaced) {
  Heard<absl::Status> lost;
  Pool pool(Options(), 1, nullptr, Nobody());
  pool.Submit([&](absl::StatusOr<Session*> session) {
    lost.Add(testing::Required(session)
                 ->RunText("SELECT pg_terminate_backend(pg_backend_pid(), 10000)")
                 .status());
  });
  ASSERT_TRUE(lost.WaitForCount(1));
  EXPECT_THAT(lost.values()[0], ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_THAT(Ask(pool), IsOk());
}

TEST_F(PoolTest, ABackendThatDoesNotAnswerIsReplaced) {
  ConnectOptions options = Options();
  options.statement_timeout = absl::Seconds(1);
  options.tcp_user_timeout = absl::Seconds(1);
  Pool pool(options, 1, nullptr, Nobody());
  const absl::StatusOr<int> pid = Ask(pool);
  ASSERT_THAT(pid, IsOk());
  const testing::Frozen frozen(*pid);
  EXPECT_THAT(Ask(pool), ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_THAT(Ask(pool), IsOk());
}

TEST_F(PoolTest, AServerThatComesBackIsUsedAgain) {
  testing::Cluster cluster;
  Heard<bool> changes;
  Pool pool({.uri = cluster.uri("postgres")}, 2, nullptr,
            [&](bool connected) { changes.Add(connected); });
  ASSERT_THAT(Ask(pool), IsOk());
  cluster.Stop();
  ASSERT_TRUE(changes.WaitFor(false));
  EXPECT_THAT(Ask(pool), ReasonIs("DATABASE_UNAVAILABLE"));
  cluster.Start();
  ASSERT_TRUE(changes.WaitUntil([](const auto& values) {
    return values.size() >= 3 && values.back();
  }));
  EXPECT_THAT(Ask(pool), IsOk());
}

TEST_F(PoolTest, StopRunsWhatWasSubmittedAndRefusesTheRest) {
  std::atomic<int> done = 0;
  Pool pool(Options(), 2, nullptr, Nobody());
  for (int i = 0; i < 50; ++i) {
    pool.Submit([&done](absl::StatusOr<Session*> session) {
      if (session.ok() && (*session)->RunText("SELECT 1").ok()) ++done;
    });
  }
  pool.Stop();
  EXPECT_EQ(done, 50);
  EXPECT_THAT(Ask(pool), ReasonIs("BROKER_DRAINING"));
  EXPECT_FALSE(pool.connected());
  pool.Stop();
}

// A server that does not answer once held a broker up for as long as its statements may take.
TEST_F(PoolTest, StopWaitsForNoServerThatDoesNotAnswer) {
  ConnectOptions options = Options();
  options.statement_timeout = absl::Hours(1);
  Heard<int> begun;
  Heard<absl::Status> ended;
  Pool pool(options, 1, nullptr, Nobody());
  pool.Submit([&](absl::StatusOr<Session*> session) {
    begun.Add(testing::Required(session)->backend_pid());
    ended.Add((*session)->RunText("SELECT pg_sleep(3600)").status());
  });
  ASSERT_TRUE(begun.WaitForCount(1));
  const std::string sleeps = absl::StrCat(
      "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%'"
      " AND pid = ", begun.values()[0]);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (database_.Run(sleeps) != "1") ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  const testing::Frozen frozen(begun.values()[0]);
  pool.EndWithin(absl::ZeroDuration());
  pool.Stop();
  EXPECT_THAT(ended.values(), ElementsAre(ReasonIs("COMMIT_OUTCOME_UNKNOWN")));
}

TEST_F(PoolTest, StopWithoutAServerAnswersWhatWaits) {
  std::atomic<int> refused = 0;
  {
    Pool pool({.uri = kNowhere}, 2, nullptr, Nobody());
    for (int i = 0; i < 50; ++i) {
      pool.Submit([&refused](absl::StatusOr<Session*> session) {
        if (!session.ok()) ++refused;
      });
    }
  }
  EXPECT_EQ(refused, 50);
}

}  // namespace
}  // namespace skiplane::pg
