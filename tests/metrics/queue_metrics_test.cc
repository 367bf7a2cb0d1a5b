#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/metrics/metrics.h"
#include "tests/metrics/page.h"

namespace skiplane::metrics {
namespace {

constexpr int kQueueNamesMax = 1000;
constexpr int kCounters = 11;
constexpr int kGauges = 9;

class QueueMetricsTest : public ::testing::Test {
 protected:
  std::optional<double> Value(const std::string& series) const {
    return ParsePage(metrics_.Text()).Value(series);
  }

  void FillAllNames() {
    for (int i = 0; i < kQueueNamesMax; ++i) {
      metrics_.SetQueue(absl::StrCat("q", i), QueueGauges());
    }
  }

  Metrics metrics_{"1.2.3", "abc"};
};

TEST_F(QueueMetricsTest, AQueueThatAppearsHasItsCountersAndGaugesAtZero) {
  metrics_.SetQueue("emails", QueueGauges());
  const Page page = ParsePage(metrics_.Text());
  int series_of_queue = 0;
  for (const auto& [name, value] : page.series) {
    if (name.find("queue=\"emails\"") == std::string::npos) continue;
    EXPECT_EQ(value, 0) << name;
    ++series_of_queue;
  }
  EXPECT_EQ(series_of_queue, kCounters + kGauges);
}

TEST_F(QueueMetricsTest, EveryVerbReachesItsSeries) {
  metrics_.Enqueued("a", "created", 1);
  metrics_.Enqueued("a", "existing", 2);
  metrics_.Leased("a", "first", 3);
  metrics_.Leased("a", "retry", 4);
  int tasks = 10;
  for (const char* outcome : {"succeeded", "retried", "released", "failed", "lost"}) {
    metrics_.AttemptEnded("a", outcome, ++tasks);
  }
  metrics_.Finished("a", "succeeded", 5);
  metrics_.Finished("a", "failed", 6);
  metrics_.SetWaitingLeases("a", 7);
  const Page page = ParsePage(metrics_.Text());
  EXPECT_EQ(page.Value("skiplane_tasks_enqueued_total{outcome=\"created\",queue=\"a\"}"), 1);
  EXPECT_EQ(page.Value("skiplane_tasks_enqueued_total{outcome=\"existing\",queue=\"a\"}"), 2);
  EXPECT_EQ(page.Value("skiplane_tasks_leased_total{kind=\"first\",queue=\"a\"}"), 3);
  EXPECT_EQ(page.Value("skiplane_tasks_leased_total{kind=\"retry\",queue=\"a\"}"), 4);
  EXPECT_EQ(page.Value("skiplane_task_attempts_total{outcome=\"succeeded\",queue=\"a\"}"), 11);
  EXPECT_EQ(page.Value("skiplane_task_attempts_total{outcome=\"retried\",queue=\"a\"}"), 12);
  EXPECT_EQ(page.Value("skiplane_task_attempts_total{outcome=\"released\",queue=\"a\"}"), 13);
  EXPECT_EQ(page.Value("skiplane_task_attempts_total{outcome=\"failed\",queue=\"a\"}"), 14);
  EXPECT_EQ(page.Value("skiplane_task_attempts_total{outcome=\"lost\",queue=\"a\"}"), 15);
  EXPECT_EQ(page.Value("skiplane_tasks_finished_total{outcome=\"succeeded\",queue=\"a\"}"), 5);
  EXPECT_EQ(page.Value("skiplane_tasks_finished_total{outcome=\"failed\",queue=\"a\"}"), 6);
  EXPECT_EQ(page.Value("skiplane_queue_waiting_leases{queue=\"a\"}"), 7);
}

TEST_F(QueueMetricsTest, GaugesShowTheLastSample) {
  metrics_.SetQueue("a", {.scheduled = 1,
                          .ready = 2,
                          .leased = 3,
                          .oldest_ready_age = absl::Milliseconds(1500),
                          .pause_mode = 1,
                          .oldest_attempt_age = absl::Minutes(2),
                          .dead_letters = 4});
  EXPECT_EQ(Value("skiplane_queue_oldest_attempt_age_seconds{queue=\"a\"}"), 120);
  EXPECT_EQ(Value("skiplane_queue_failed_tasks{queue=\"a\"}"), 4);
  EXPECT_EQ(Value("skiplane_queue_tasks{queue=\"a\",state=\"scheduled\"}"), 1);
  EXPECT_EQ(Value("skiplane_queue_tasks{queue=\"a\",state=\"ready\"}"), 2);
  EXPECT_EQ(Value("skiplane_queue_tasks{queue=\"a\",state=\"leased\"}"), 3);
  EXPECT_EQ(Value("skiplane_queue_oldest_ready_age_seconds{queue=\"a\"}"), 1.5);
  EXPECT_EQ(Value("skiplane_queue_paused{mode=\"lease\",queue=\"a\"}"), 1);
  EXPECT_EQ(Value("skiplane_queue_paused{mode=\"enqueue\",queue=\"a\"}"), 0);
  metrics_.SetQueue("a", {.pause_mode = 2});
  EXPECT_EQ(Value("skiplane_queue_tasks{queue=\"a\",state=\"ready\"}"), 0);
  EXPECT_EQ(Value("skiplane_queue_paused{mode=\"lease\",queue=\"a\"}"), 0);
  EXPECT_EQ(Value("skiplane_queue_paused{mode=\"enqueue\",queue=\"a\"}"), 1);
}

TEST_F(QueueMetricsTest, ASampleLeavesTheWaitingLeasesAlone) {
  metrics_.SetWaitingLeases("a", 5);
  metrics_.SetQueue("a", QueueGauges());
  EXPECT_EQ(Value("skiplane_queue_waiting_leases{queue=\"a\"}"), 5);
}

TEST_F(QueueMetricsTest, AWaitFallsIntoItsBucketAndIsNeverNegative) {
  metrics_.QueueWait("a", absl::Seconds(2));
  metrics_.QueueWait("a", absl::Seconds(-2));
  EXPECT_EQ(Value("skiplane_task_wait_seconds_sum{queue=\"a\"}"), 2);
  EXPECT_EQ(Value("skiplane_task_wait_seconds_bucket{queue=\"a\",le=\"1\"}"), 1);
  EXPECT_EQ(Value("skiplane_task_wait_seconds_bucket{queue=\"a\",le=\"5\"}"), 2);
}

TEST_F(QueueMetricsTest, ARunTimeFallsIntoItsBucketAndIsNeverNegative) {
  metrics_.RunTimes("a", {absl::Milliseconds(3), absl::Minutes(2), absl::Seconds(-1)});
  metrics_.RunTimes("a", {absl::Hours(24)});
  EXPECT_EQ(Value("skiplane_task_run_seconds_bucket{queue=\"a\",le=\"0.005\"}"), 2);
  EXPECT_EQ(Value("skiplane_task_run_seconds_bucket{queue=\"a\",le=\"60\"}"), 2);
  EXPECT_EQ(Value("skiplane_task_run_seconds_bucket{queue=\"a\",le=\"300\"}"), 3);
  EXPECT_EQ(Value("skiplane_task_run_seconds_bucket{queue=\"a\",le=\"43200\"}"), 3);
  EXPECT_EQ(Value("skiplane_task_run_seconds_count{queue=\"a\"}"), 4);
}

TEST_F(QueueMetricsTest, StagesAreThoseOfTheLastSample) {
  metrics_.SetQueue("a", {.stages = {{"fetch", {.ready = 1}}, {"send", {.scheduled = 2}}}});
  const std::string of_fetch = "skiplane_queue_stage_tasks{queue=\"a\",stage=\"fetch\"";
  EXPECT_EQ(Value(of_fetch + ",state=\"ready\"}"), 1);
  EXPECT_EQ(Value(of_fetch + ",state=\"leased\"}"), 0);
  EXPECT_EQ(Value("skiplane_queue_stage_tasks{queue=\"a\",stage=\"send\",state=\"scheduled\"}"),
            2);
  metrics_.SetQueue("a", {.stages = {{"fetch", {.leased = 5}}}});
  EXPECT_EQ(Value(of_fetch + ",state=\"leased\"}"), 5);
  EXPECT_EQ(ParsePage(metrics_.Text()).CountOf("stage=\"send\""), 0);
}

TEST_F(QueueMetricsTest, OnlyAQueueWithSchedulesHasALag) {
  metrics_.QueueWait("a", absl::Seconds(2));
  metrics_.ScheduleLag("b", absl::Seconds(2));
  metrics_.ScheduleLag("b", absl::Seconds(-1));
  EXPECT_EQ(Value("skiplane_schedule_lag_seconds_sum{queue=\"b\"}"), 2);
  EXPECT_EQ(Value("skiplane_schedule_lag_seconds_bucket{queue=\"b\",le=\"1\"}"), 1);
  EXPECT_EQ(metrics_.Text().find("skiplane_schedule_lag_seconds_sum{queue=\"a\"}"),
            std::string::npos);
  metrics_.RemoveQueue("b");
  EXPECT_EQ(metrics_.Text().find("skiplane_schedule_lag_seconds_sum{"), std::string::npos);
}

TEST_F(QueueMetricsTest, ARemovedQueueLeavesNoSeries) {
  UseEveryVerb(metrics_);
  metrics_.Enqueued("kept", "created", 1);
  ASSERT_GT(ParsePage(metrics_.Text()).CountOf("queue=\"emails\""), 0);
  metrics_.RemoveQueue("emails");
  EXPECT_EQ(ParsePage(metrics_.Text()).CountOf("queue=\"emails\""), 0);
  EXPECT_EQ(Value("skiplane_tasks_enqueued_total{outcome=\"created\",queue=\"kept\"}"), 1);
}

TEST_F(QueueMetricsTest, RemovingAnUnknownQueueChangesNothing) {
  const int before = ParsePage(metrics_.Text()).CountOf("skiplane_");
  metrics_.RemoveQueue("unknown");
  EXPECT_EQ(ParsePage(metrics_.Text()).CountOf("skiplane_"), before);
}

TEST_F(QueueMetricsTest, AQueueThatReturnsStartsAtZero) {
  metrics_.Enqueued("a", "created", 9);
  metrics_.RemoveQueue("a");
  metrics_.Enqueued("a", "created", 1);
  EXPECT_EQ(Value("skiplane_tasks_enqueued_total{outcome=\"created\",queue=\"a\"}"), 1);
}

TEST_F(QueueMetricsTest, TheThousandthQueueHasItsNameAndNoneIsCalledOther) {
  FillAllNames();
  const Page page = ParsePage(metrics_.Text());
  EXPECT_EQ(page.CountOf("queue=\"q999\""), kCounters + kGauges);
  EXPECT_EQ(page.CountOf("__other__"), 0);
}

TEST_F(QueueMetricsTest, QueuesBeyondTheCapAreAddedUpUnderOneName) {
  FillAllNames();
  metrics_.Enqueued("x", "created", 1);
  metrics_.Enqueued("y", "created", 2);
  metrics_.SetQueue("x", {.ready = 3, .oldest_ready_age = absl::Seconds(8), .pause_mode = 1});
  metrics_.SetQueue("y", {.ready = 4, .oldest_ready_age = absl::Seconds(7), .pause_mode = 1});
  metrics_.SetWaitingLeases("x", 5);
  metrics_.SetWaitingLeases("y", 6);
  const Page page = ParsePage(metrics_.Text());
  EXPECT_EQ(page.CountOf("queue=\"x\"") + page.CountOf("queue=\"y\""), 0);
  EXPECT_EQ(page.Value("skiplane_tasks_enqueued_total{outcome=\"created\",queue=\"__other__\"}"),
            3);
  EXPECT_EQ(page.Value("skiplane_queue_tasks{queue=\"__other__\",state=\"ready\"}"), 7);
  EXPECT_EQ(page.Value("skiplane_queue_oldest_ready_age_seconds{queue=\"__other__\"}"), 8);
  EXPECT_EQ(page.Value("skiplane_queue_paused{mode=\"lease\",queue=\"__other__\"}"), 2);
  EXPECT_EQ(page.Value("skiplane_queue_waiting_leases{queue=\"__other__\"}"), 11);
}

TEST_F(QueueMetricsTest, QueuesThatHadANameKeepItAtTheCap) {
  FillAllNames();
  metrics_.SetQueue("x", {.ready = 3});
  metrics_.SetQueue("q5", {.ready = 2});
  EXPECT_EQ(Value("skiplane_queue_tasks{queue=\"q5\",state=\"ready\"}"), 2);
}

TEST_F(QueueMetricsTest, AFreedNameGoesToTheNextQueueWithItsGauges) {
  FillAllNames();
  metrics_.SetQueue("x", {.ready = 3});
  metrics_.SetWaitingLeases("x", 1);
  metrics_.SetQueue("y", {.ready = 4});
  metrics_.RemoveQueue("q0");
  metrics_.Enqueued("x", "created", 1);
  const Page page = ParsePage(metrics_.Text());
  EXPECT_EQ(page.Value("skiplane_queue_tasks{queue=\"x\",state=\"ready\"}"), 3);
  EXPECT_EQ(page.Value("skiplane_queue_waiting_leases{queue=\"x\"}"), 1);
  EXPECT_EQ(page.Value("skiplane_queue_tasks{queue=\"__other__\",state=\"ready\"}"), 4);
}

TEST_F(QueueMetricsTest, ARemovedQueueBeyondTheCapNoLongerCounts) {
  FillAllNames();
  metrics_.SetQueue("x", {.ready = 3});
  metrics_.SetQueue("y", {.ready = 4});
  metrics_.RemoveQueue("x");
  EXPECT_EQ(Value("skiplane_queue_tasks{queue=\"__other__\",state=\"ready\"}"), 4);
}

}  // namespace
}  // namespace skiplane::metrics
