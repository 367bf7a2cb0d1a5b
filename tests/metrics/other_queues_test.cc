#include "server/metrics/other_queues.h"

#include "gtest/gtest.h"

namespace skiplane::metrics {
namespace {

QueueGauges Gauges(int64_t tasks, int seconds, int pause_mode) {
  return {.scheduled = tasks,
          .ready = 10 * tasks,
          .leased = 100 * tasks,
          .oldest_ready_age = absl::Seconds(seconds),
          .pause_mode = pause_mode};
}

TEST(OtherQueuesTest, TasksAndPausesAddUpAndTheHighestAgeCounts) {
  OtherQueues queues;
  queues.Set("a", Gauges(1, 30, 1));
  queues.Set("b", Gauges(2, 20, 3));
  const QueueSample total = queues.Total();
  EXPECT_EQ(total.scheduled, 3);
  EXPECT_EQ(total.ready, 30);
  EXPECT_EQ(total.leased, 300);
  EXPECT_EQ(total.paused_leases, 2);
  EXPECT_EQ(total.paused_enqueues, 1);
  EXPECT_EQ(total.oldest_ready_age, absl::Seconds(30));
}

TEST(OtherQueuesTest, ANewReportReplacesTheOldOne) {
  OtherQueues queues;
  queues.Set("a", Gauges(5, 30, 3));
  queues.Set("b", Gauges(1, 10, 0));
  queues.Set("a", Gauges(2, 5, 0));
  EXPECT_EQ(queues.Total().scheduled, 3);
  EXPECT_EQ(queues.Total().paused_leases, 0);
  EXPECT_EQ(queues.Total().oldest_ready_age, absl::Seconds(10));
}

TEST(OtherQueuesTest, GaugesAndWaitingLeasesDoNotTouchEachOther) {
  OtherQueues queues;
  queues.SetWaitingLeases("a", 4);
  queues.Set("a", Gauges(1, 1, 0));
  EXPECT_EQ(queues.Total().waiting_leases, 4);
  queues.SetWaitingLeases("a", 3);
  EXPECT_EQ(queues.Total().waiting_leases, 3);
  EXPECT_EQ(queues.Total().scheduled, 1);
}

TEST(OtherQueuesTest, AQueueThatIsTakenNoLongerCounts) {
  OtherQueues queues;
  queues.Set("a", Gauges(1, 9, 1));
  queues.Set("b", Gauges(1, 9, 1));
  EXPECT_EQ(queues.Take("a").ready, 10);
  EXPECT_EQ(queues.Total().ready, 10);
  EXPECT_EQ(queues.Total().oldest_ready_age, absl::Seconds(9));
  queues.Take("b");
  EXPECT_EQ(queues.Total().ready, 0);
  EXPECT_EQ(queues.Total().oldest_ready_age, absl::ZeroDuration());
}

TEST(OtherQueuesTest, AnUnknownQueueShowedNothing) {
  OtherQueues queues;
  EXPECT_EQ(queues.Take("a").ready, 0);
  EXPECT_EQ(queues.Total().ready, 0);
}

}  // namespace
}  // namespace skiplane::metrics
