#include "server/metrics/metrics.h"

#include <string>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/metrics/page.h"

namespace skiplane::metrics {
namespace {

class MetricsTest : public ::testing::Test {
 protected:
  std::optional<double> Value(const std::string& series) const {
    return ParsePage(metrics_.Text()).Value(series);
  }

  Metrics metrics_{"1.2.3", "abc"};
};

TEST_F(MetricsTest, BuildInfoSaysWhatRuns) {
  EXPECT_EQ(Value("skiplane_build_info{commit=\"abc\",version=\"1.2.3\"}"), 1);
}

TEST_F(MetricsTest, WhatIsKnownBeforehandIsZeroFromTheBeginning) {
  for (const char* series :
       {"skiplane_lost_lease_items_total{call=\"ack\"}",
        "skiplane_lost_lease_items_total{call=\"nack\"}",
        "skiplane_lost_lease_items_total{call=\"heartbeat\"}",
        "skiplane_orphan_leases_handed_back_total", "skiplane_handed_off_tasks_total",
        "skiplane_sessions_lost_total",
        "skiplane_workers{state=\"alive\"}", "skiplane_leader", "skiplane_draining",
        "skiplane_ready", "skiplane_db_up",
        "skiplane_batch_tasks_count{call=\"enqueue\"}",
        "skiplane_batch_tasks_count{call=\"lease\"}",
        "skiplane_batch_tasks_count{call=\"ack\"}",
        "skiplane_batch_tasks_count{call=\"settle\"}",
        "skiplane_batch_tasks_count{call=\"heartbeat\"}",
        "skiplane_db_pool_connections{state=\"idle\"}",
        "skiplane_db_pool_connections{state=\"busy\"}", "skiplane_db_pool_waiting_statements",
        "skiplane_db_notifications_total{direction=\"sent\"}",
        "skiplane_db_notifications_total{direction=\"received\"}"}) {
    EXPECT_EQ(Value(series), 0) << series;
  }
}

TEST_F(MetricsTest, CountersAddUp) {
  metrics_.LeaseLost("nack", 2);
  metrics_.LeaseLost("nack", 3);
  metrics_.OrphanLeasesReleased(4);
  metrics_.HandedOff(5);
  metrics_.SessionsLost(5);
  metrics_.DatabaseError("08");
  metrics_.DatabaseError("08");
  metrics_.Notification("received");
  EXPECT_EQ(Value("skiplane_lost_lease_items_total{call=\"nack\"}"), 5);
  EXPECT_EQ(Value("skiplane_lost_lease_items_total{call=\"ack\"}"), 0);
  EXPECT_EQ(Value("skiplane_orphan_leases_handed_back_total"), 4);
  EXPECT_EQ(Value("skiplane_handed_off_tasks_total"), 5);
  EXPECT_EQ(Value("skiplane_sessions_lost_total"), 5);
  EXPECT_EQ(Value("skiplane_db_errors_total{sqlstate_class=\"08\"}"), 2);
  EXPECT_EQ(Value("skiplane_db_notifications_total{direction=\"received\"}"), 1);
}

TEST_F(MetricsTest, GaugesTakeTheLastValue) {
  metrics_.SetWorkers(7);
  metrics_.SetWorkers(6);
  metrics_.SetDraining(true);
  metrics_.SetLeader(true);
  EXPECT_EQ(Value("skiplane_workers{state=\"alive\"}"), 6);
  EXPECT_EQ(Value("skiplane_draining"), 1);
  metrics_.SetReady(true);
  metrics_.SetDatabaseUp(true);
  EXPECT_EQ(Value("skiplane_ready"), 1);
  EXPECT_EQ(Value("skiplane_db_up"), 1);
  EXPECT_EQ(Value("skiplane_leader"), 1);
  metrics_.SetLeader(false);
  EXPECT_EQ(Value("skiplane_leader"), 0);
}

TEST_F(MetricsTest, ATableShowsTheBytesOfItsParts) {
  metrics_.SetTable("task", {.row_bytes = 1, .toast_bytes = 2, .index_bytes = 3, .dead_rows = 4});
  metrics_.SetTable("task", {.row_bytes = 5, .toast_bytes = 6, .index_bytes = 7, .dead_rows = 8});
  metrics_.SetDatabaseBytes(9);
  EXPECT_EQ(Value("skiplane_db_table_bytes{part=\"rows\",table=\"task\"}"), 5);
  EXPECT_EQ(Value("skiplane_db_table_bytes{part=\"toast\",table=\"task\"}"), 6);
  EXPECT_EQ(Value("skiplane_db_table_bytes{part=\"indexes\",table=\"task\"}"), 7);
  EXPECT_EQ(Value("skiplane_db_table_dead_rows{table=\"task\"}"), 8);
  EXPECT_EQ(Value("skiplane_db_bytes"), 9);
}

TEST_F(MetricsTest, ThePoolIsSplitIntoIdleAndBusy) {
  metrics_.SetPool(/*connections=*/5, /*idle=*/2, /*waiting_jobs=*/9);
  EXPECT_EQ(Value("skiplane_db_pool_connections{state=\"idle\"}"), 2);
  EXPECT_EQ(Value("skiplane_db_pool_connections{state=\"busy\"}"), 3);
  EXPECT_EQ(Value("skiplane_db_pool_waiting_statements"), 9);
}

TEST_F(MetricsTest, ABatchFallsIntoItsBucket) {
  metrics_.Batch("ack", 100);
  metrics_.Batch("ack", 101);
  EXPECT_EQ(Value("skiplane_batch_tasks_bucket{call=\"ack\",le=\"50\"}"), 0);
  EXPECT_EQ(Value("skiplane_batch_tasks_bucket{call=\"ack\",le=\"100\"}"), 1);
  EXPECT_EQ(Value("skiplane_batch_tasks_sum{call=\"ack\"}"), 201);
}

TEST_F(MetricsTest, ACallIsCountedByMethodAndTimedByStatus) {
  const std::string method = "skiplane.v1.BrokerService/Lease";
  metrics_.RpcStarted(method);
  metrics_.RpcStarted(method);
  metrics_.RpcEnded(method, "OK", absl::Milliseconds(1500));
  metrics_.RpcEnded(method, "UNAVAILABLE", absl::Seconds(2));
  EXPECT_EQ(Value("grpc_server_call_started_total{grpc_method=\"" + method + "\"}"), 2);
  const std::string ok = "{grpc_method=\"" + method + "\",grpc_status=\"OK\"";
  EXPECT_EQ(Value("grpc_server_call_duration_seconds_sum" + ok + "}"), 1.5);
  EXPECT_EQ(Value("grpc_server_call_duration_seconds_bucket" + ok + ",le=\"1\"}"), 0);
  EXPECT_EQ(Value("grpc_server_call_duration_seconds_bucket" + ok + ",le=\"2.5\"}"), 1);
}

TEST_F(MetricsTest, AStatementIsTimedByName) {
  metrics_.Statement("task_lease", absl::Microseconds(1500));
  EXPECT_EQ(Value("skiplane_db_statement_seconds_sum{statement=\"task_lease\"}"), 0.0015);
  EXPECT_EQ(Value("skiplane_db_statement_seconds_bucket{statement=\"task_lease\",le=\"0.001\"}"),
            0);
  EXPECT_EQ(Value("skiplane_db_statement_seconds_bucket{statement=\"task_lease\",le=\"0.0025\"}"),
            1);
}

TEST_F(MetricsTest, AChoreThatNeverSucceededShowsZeroAndItsFailures) {
  metrics_.Chore("reclaim", absl::Seconds(1), false);
  EXPECT_EQ(Value("skiplane_chore_failures_total{chore=\"reclaim\"}"), 1);
  EXPECT_EQ(Value("skiplane_chore_last_success_timestamp_seconds{chore=\"reclaim\"}"), 0);
  EXPECT_EQ(Value("skiplane_chore_duration_seconds_count{chore=\"reclaim\"}"), 1);
}

TEST_F(MetricsTest, AChoreThatSucceededShowsWhen) {
  const double before = static_cast<double>(absl::ToUnixSeconds(absl::Now()));
  metrics_.Chore("reclaim", absl::Seconds(2), true);
  const std::optional<double> shown =
      Value("skiplane_chore_last_success_timestamp_seconds{chore=\"reclaim\"}");
  EXPECT_GE(shown, before);
  EXPECT_LE(shown, static_cast<double>(absl::ToUnixSeconds(absl::Now())) + 1);
  EXPECT_EQ(Value("skiplane_chore_failures_total{chore=\"reclaim\"}"), 0);
  EXPECT_EQ(Value("skiplane_chore_duration_seconds_sum{chore=\"reclaim\"}"), 2);
}

TEST_F(MetricsTest, AFailureAfterASuccessKeepsTheTimeOfTheSuccess) {
  metrics_.Chore("reclaim", absl::Seconds(1), true);
  metrics_.Chore("reclaim", absl::Seconds(1), false);
  EXPECT_GT(Value("skiplane_chore_last_success_timestamp_seconds{chore=\"reclaim\"}"), 0);
}

}  // namespace
}  // namespace skiplane::metrics
