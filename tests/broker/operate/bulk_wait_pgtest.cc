// Calls that wait for the end of a bulk operation.
#include <vector>

#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

class BulkWaitTest : public BrokerHarness {
 protected:
  // An operation that runs, and of which no broker makes a step.
  model::SessionId Stuck() {
    Enqueue({Payload("x")});
    Sql("INSERT INTO skiplane.bulk_operation "
        "(id, queue_id, request, dry_run, lanes, actor, update_time) "
        "SELECT '01010101-0101-0101-0101-010101010101', id, "
        "'{\"filter\": {}, \"change\": {\"kind\": 1}}', false, '{1}', 'ann', "
        "now() + interval '1 hour' FROM skiplane.queue");
    model::SessionId id;
    id.fill(1);
    return id;
  }
  void Finish() const { Sql("UPDATE skiplane.bulk_operation SET state = 2"); }
};

// Each of them once asked 20 times a second.
TEST_F(BulkWaitTest, ManyWhoWaitAskTogether) {
  constexpr int kCalls = 40;
  const model::SessionId id = Stuck();
  std::vector<Later<model::BulkOperation>> answers(kCalls);
  const absl::Time begin = absl::Now();
  for (auto& answer : answers) {
    broker().AsOperator().GetBulk({id, absl::Minutes(1)}, answer.done());
  }
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (RunsOf("bulk_get") < kCalls + 5) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  Finish();
  for (auto& answer : answers) {
    const auto operation = answer.Get();
    ASSERT_THAT(operation, IsOk());
    EXPECT_EQ(operation->state, model::BulkOperationState::kDone);
  }
  const int64_t rounds = 5 + absl::ToInt64Milliseconds(absl::Now() - begin) / 50;
  EXPECT_LT(RunsOf("bulk_get"), kCalls + rounds * kCalls / 4) << "of " << rounds << " rounds";
}

TEST_F(BulkWaitTest, WhoseWaitIsOverIsToldHowFarItIs) {
  const model::SessionId id = Stuck();
  Later<model::BulkOperation> soon;
  broker().AsOperator().GetBulk({id, absl::Milliseconds(120)}, soon.done());
  const auto operation = soon.Get();
  ASSERT_THAT(operation, IsOk());
  EXPECT_EQ(operation->state, model::BulkOperationState::kRunning);
}

TEST_F(BulkWaitTest, AnOperationThatIsGoneIsNotFound) {
  const model::SessionId id = Stuck();
  Later<model::BulkOperation> later;
  broker().AsOperator().GetBulk({id, absl::Minutes(1)}, later.done());
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (RunsOf("bulk_get") < 2) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  Sql("DELETE FROM skiplane.bulk_operation");
  EXPECT_THAT(later.Get(), ReasonIs("OPERATION_NOT_FOUND"));
}

// The last poll was once lost with the timer.
TEST_F(BulkWaitTest, AStopAnswersWhoWaits) {
  const model::SessionId id = Stuck();
  Later<model::BulkOperation> later;
  broker().AsOperator().GetBulk({id, absl::Minutes(1)}, later.done());
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (RunsOf("bulk_get") < 2) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  broker().Stop();
  const auto operation = later.Get();
  ASSERT_THAT(operation, IsOk());
  EXPECT_EQ(operation->state, model::BulkOperationState::kRunning);
}

}  // namespace
}  // namespace skiplane::testing
