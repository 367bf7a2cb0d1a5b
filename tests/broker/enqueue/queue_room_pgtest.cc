// Queues that take so many tasks, or so many bytes, and no more.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/broker/enqueue/queue_room_harness.h"

namespace skiplane::testing {
namespace {

using ::testing::HasSubstr;

class QueueRoomTest : public QueueRoomHarness {};

TEST_F(QueueRoomTest, ADepthIsKeptAndWhatIsDoneMakesRoom) {
  Create("q", Depth(10));
  EXPECT_THAT(Put("q", Some(6)).status(), IsOk());
  ExpectFull(Put("q", Some(5)), "max_depth");
  EXPECT_THAT(Put("q", Some(4)).status(), IsOk());
  ExpectFull(Put("q", Some(1)), "max_depth");
  EXPECT_EQ(Tasks(), 10);

  const std::vector<model::LeasedTask> leased = Take(2);
  ASSERT_EQ(leased.size(), 2U);
  ExpectFull(Put("q", Some(1)), "max_depth");  // they are not finished
  for (const model::LeasedTask& task : leased) {
    EXPECT_EQ(Ack(task.token), model::SettleOutcome::kSettled);
  }
  PutInTheEnd("q", Some(2));
  ExpectFull(Put("q", Some(1)), "max_depth");
  EXPECT_EQ(Tasks(), 10);
}

TEST_F(QueueRoomTest, WhatManyCallersBringAtOnceIsNotTooMuchTogether) {
  Create("q", Depth(50));
  std::vector<Later<std::vector<broker::EnqueueResult>>> answers(100);
  for (auto& later : answers) {
    broker::EnqueueCall call;
    call.queue = "q";
    call.tasks = Some(1);
    broker().Enqueue(std::move(call), later.done());
  }
  int taken = 0;
  for (auto& later : answers) taken += later.Get().ok() ? 1 : 0;
  EXPECT_EQ(taken, 50);
  EXPECT_EQ(Tasks(), 50);
}

TEST_F(QueueRoomTest, WhatAnotherBrokerLetInIsFoundSoon) {
  Create("q", Depth(10));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
  const auto other = NewBroker();
  EXPECT_THAT(Put(*other, "q", Some(9)).status(), IsOk());
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (Put("q", Some(1)).ok()) ASSERT_LT(std::chrono::steady_clock::now(), end);
  ExpectFull(Put("q", Some(1)), "max_depth");
}

TEST_F(QueueRoomTest, SeveralQueuesTakeAllOrNone) {
  Create("q", Depth(10));
  Create("small", Depth(1));
  EXPECT_THAT(Put("small", Some(1)).status(), IsOk());
  std::vector<model::NewTask> tasks = Some(2);
  tasks[1].queue = "small";
  const Results refused = Put("q", tasks);
  EXPECT_EQ(base::ReasonOf(refused.status()), "QUEUE_FULL");
  EXPECT_EQ(base::FieldOf(refused.status()), "tasks[1].queue");
  EXPECT_EQ(Tasks(), 1);
  EXPECT_THAT(Put("q", Some(10)).status(), IsOk());  // nothing of it was taken
}

TEST_F(QueueRoomTest, BytesAreKept) {
  Create("q", Bytes(1000));
  EXPECT_THAT(Put("q", Some(9, 100)).status(), IsOk());
  ExpectFull(Put("q", Some(1, 101)), "max_bytes");
  EXPECT_THAT(Put("q", Some(1, 100)).status(), IsOk());
  ExpectFull(Put("q", Some(1, 1)), "max_bytes");
  const std::vector<model::LeasedTask> leased = Take(1);
  ASSERT_EQ(leased.size(), 1U);
  EXPECT_EQ(Ack(leased[0].token), model::SettleOutcome::kSettled);
  PutInTheEnd("q", Some(1, 100));
}

TEST_F(QueueRoomTest, ACallThatFailsTakesNoRoom) {
  Create("q", Depth(2));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());  // counted just now
  std::vector<model::NewTask> wrong = Some(1);
  wrong[0].cron = "not a schedule";
  EXPECT_EQ(base::FieldOf(Put("q", wrong).status()), "tasks[0].cron");
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
}

// Nobody needs to try again: it never fits.
TEST_F(QueueRoomTest, WhatNeverFitsIsRefusedForGood) {
  Create("q", Depth(10));
  Create("small", Bytes(100));
  const auto expect_too_large = [](const Results& results, const std::string& field,
                                   const std::string& setting) {
    EXPECT_EQ(results.status().code(), absl::StatusCode::kInvalidArgument) << results.status();
    EXPECT_EQ(base::ReasonOf(results.status()), "REQUEST_TOO_LARGE");
    EXPECT_EQ(base::FieldOf(results.status()), field);
    EXPECT_EQ(base::RetryDelayOf(results.status()), std::nullopt);
    EXPECT_THAT(std::string(results.status().message()), HasSubstr(setting));
  };
  expect_too_large(Put("q", Some(11)), "queue", "max_depth");
  expect_too_large(Put("small", Some(1, 101)), "queue", "max_bytes");
  std::vector<model::NewTask> tasks = Some(3, 51);
  tasks[1].queue = tasks[2].queue = "small";
  expect_too_large(Put("q", tasks), "tasks[1].queue", "max_bytes");
  EXPECT_EQ(Tasks(), 0);
}

// Another broker has raised the limit, and this one has not heard of it.
TEST_F(QueueRoomTest, WhatFitsByNowIsTaken) {
  Create("q", Depth(10));
  const auto other = NewBroker();
  EXPECT_THAT(Put(*other, "q", Some(1)).status(), IsOk());
  SetLimits("q", Depth(100));
  EXPECT_THAT(Put(*other, "q", Some(11)).status(), IsOk());
}

TEST_F(QueueRoomTest, SeveralQueuesTakeNeitherBytesNorRateUnlessAllDo) {
  Create("a", Bytes(100));
  Create("b", Rate(0.01));
  Create("full", Depth(1));
  EXPECT_THAT(Put("full", Some(1)).status(), IsOk());
  std::vector<model::NewTask> tasks = Some(3, 100);
  tasks[1].queue = "b";
  tasks[2].queue = "full";
  const Results refused = Put("a", tasks);
  EXPECT_EQ(base::FieldOf(refused.status()), "tasks[2].queue");
  EXPECT_THAT(Put("a", Some(1, 100)).status(), IsOk());
  EXPECT_THAT(Put("b", Some(1)).status(), IsOk());
}

TEST_F(QueueRoomTest, WhatAnAckBringsIsNeverRefused) {
  Create("q", Depth(1));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
  const std::vector<model::LeasedTask> leased = Take(1);
  ASSERT_EQ(leased.size(), 1U);
  auto further = std::make_shared<model::AckContinuation>();
  further->follow_ups = Some(5);
  for (model::NewTask& task : further->follow_ups) task.queue = "q";
  model::AckItem ack;
  ack.token = leased[0].token;
  ack.continuation = further;
  Later<std::vector<model::SettleResult>> later;
  broker().Settle({std::move(ack)}, "", later.done());
  const auto results = later.Get();
  ASSERT_THAT(results.status(), IsOk());
  EXPECT_EQ(results->at(0).outcome, model::SettleOutcome::kSettled);
  EXPECT_EQ(Tasks(), 5);
  ExpectFull(Put("q", Some(1)), "max_depth");
}

TEST_F(QueueRoomTest, AFailedAttemptWaitsForItsRetryInAFullQueue) {
  Create("q", Depth(1));
  EXPECT_THAT(Put("q", Some(1)).status(), IsOk());
  const std::vector<model::LeasedTask> leased = Take(1);
  ASSERT_EQ(leased.size(), 1U);
  model::NackItem nack;
  nack.token = leased[0].token;
  EXPECT_EQ(Nack(std::move(nack)).outcome, model::SettleOutcome::kSettled);
  EXPECT_EQ(Tasks(), 1);
}

}  // namespace
}  // namespace skiplane::testing
