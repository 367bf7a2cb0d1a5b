// Queues that take tasks so fast, and no faster.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/broker/enqueue/queue_room_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using ::testing::HasSubstr;

class QueueRateTest : public QueueRoomHarness {};

TEST_F(QueueRateTest, ARateIsKeptWithABurstOfASecond) {
  Create("q", Rate(0.01));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
  const absl::Status refused = Put("q", Some(1)).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(base::ReasonOf(refused), "ENQUEUE_RATE_EXCEEDED");
  EXPECT_EQ(base::FieldOf(refused), "queue");
  const absl::Duration delay = base::RetryDelayOf(refused).value_or(absl::ZeroDuration());
  EXPECT_GT(delay, absl::Seconds(1));
  EXPECT_LE(delay, absl::Seconds(100));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("queue: \"q\" takes 0.01 tasks a second"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("retry in 1m"));
  EXPECT_EQ(Tasks(), 1);
}

TEST_F(QueueRateTest, ACallThatFailsSpendsNoRate) {
  Create("q", Rate(0.01));
  std::vector<model::NewTask> wrong = Some(1);
  wrong[0].cron = "not a schedule";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(base::FieldOf(Put("q", wrong).status()), "tasks[0].cron");
  }
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
  EXPECT_EQ(base::ReasonOf(Put("q", Some(1)).status()), "ENQUEUE_RATE_EXCEEDED");
}

// Its tasks may be there.
TEST_F(QueueRateTest, ACallOfWhichNobodyKnowsSpendsItsRate) {
  Create("q", Rate(0.01));
  const auto lock = Lock("skiplane.task");
  broker::EnqueueCall call;
  call.queue = "q";
  call.tasks = Some(1);
  Later<std::vector<broker::EnqueueResult>> lost;
  broker().Enqueue(std::move(call), lost.done());
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (Number("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname ="
                " current_database() AND wait_event_type = 'Lock' AND query LIKE '%task%'") == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
  }
  Required(lock->RunText("COMMIT"));
  EXPECT_EQ(base::ReasonOf(lost.Get().status()), "COMMIT_OUTCOME_UNKNOWN");
  EXPECT_EQ(base::ReasonOf(Put("q", Some(1)).status()), "ENQUEUE_RATE_EXCEEDED");
}

TEST_F(QueueRateTest, ARateThatIsChangedHoldsAtOnce) {
  Create("q", Rate(0.01));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
  EXPECT_EQ(base::ReasonOf(Put("q", Some(1)).status()), "ENQUEUE_RATE_EXCEEDED");
  SetLimits("q", Rate(1000));
  const absl::Status refused = Put("q", Some(1000)).status();
  EXPECT_LT(base::RetryDelayOf(refused).value_or(absl::ZeroDuration()), absl::Seconds(2));
}

TEST_F(QueueRateTest, ARateThatWasTakenAwayBeginsAnew) {
  Create("q", Rate(0.01));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
  SetLimits("q", Depth(100));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
  SetLimits("q", Rate(0.01));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
}

}  // namespace
}  // namespace skiplane::testing
