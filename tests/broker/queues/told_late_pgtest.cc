// Queues that were changed through another broker, which nobody told this one yet.
#include <vector>

#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using ::testing::SizeIs;

class ToldLateTest : public BrokerHarness {
 protected:
  ToldLateTest() {
    Enqueue({Payload("x")});
    Change("'{\"max_payload_bytes\": 8, \"stages\": [{\"name\": \"a\"}]}'");
    broker_ = NewBroker();
    Lease(LeaseOf("w", 1));  // now it knows the queue as it is
    Sql("UPDATE skiplane.task SET state = 1, session = NULL, attempt = 0");
  }

  // As another broker does, but for the notification.
  void Change(const std::string& settings) const {
    Sql("UPDATE skiplane.queue SET version = version + 1, settings = settings || " + settings +
        "::jsonb WHERE name = 'q'");
  }
  void AddStage() const { Change("'{\"stages\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}'"); }

  absl::StatusOr<std::vector<broker::EnqueueResult>> Put(broker::EnqueueCall call) {
    Later<std::vector<broker::EnqueueResult>> results;
    broker().Enqueue(std::move(call), results.done());
    return results.Get();
  }
  static model::NewTask AtStage(const std::string& stage) {
    model::NewTask task = Payload("x");
    task.stage = stage;
    return task;
  }
};

TEST_F(ToldLateTest, ATaskMayBeginAtItsNewStage) {
  AddStage();
  EXPECT_THAT(Put({"q", {AtStage("b")}, ""}), IsOk());
}

TEST_F(ToldLateTest, SoMayOneOfACallForSeveralQueues) {
  AddStage();
  broker::EnqueueCall call{"other", {Payload("x"), AtStage("b")}, ""};
  call.tasks[1].queue = "q";
  call.has_several_queues = true;
  EXPECT_THAT(Put(std::move(call)), IsOk());
}

TEST_F(ToldLateTest, APayloadMayBeAsLargeAsItMayBeNow) {
  const std::string large(9, 'x');
  EXPECT_THAT(Put({"q", {Payload(large)}, ""}), ReasonIs("INVALID_FIELD"));
  Change("'{\"max_payload_bytes\": 9}'");
  EXPECT_THAT(Put({"q", {Payload(large)}, ""}), IsOk());
}

TEST_F(ToldLateTest, ALeaseMayNameItsNewStage) {
  broker::LeaseCall call = LeaseOf("w");
  call.queues[0].stage = "b";
  Later<broker::LeaseAnswer> refused;
  broker().Lease(call, refused.done());
  EXPECT_THAT(refused.Get(), ReasonIs("INVALID_FIELD"));
  AddStage();
  Sql("UPDATE skiplane.task SET stage = 1");
  EXPECT_THAT(Lease(call).tasks, SizeIs(1));
}

TEST_F(ToldLateTest, AnAckMayNameItsNewStage) {
  const model::LeasedTask task = LeaseOne("w");
  AddStage();
  auto continuation = std::make_shared<model::AckContinuation>();
  continuation->next_stage = "b";
  model::AckItem item{task.token, std::move(continuation)};
  Later<std::vector<model::SettleResult>> results;
  std::vector<model::SettleItem> items;
  items.emplace_back(std::move(item));
  broker().Settle(std::move(items), "", results.done());
  ASSERT_THAT(results.Get(), IsOk());
  EXPECT_EQ(Number("SELECT stage FROM skiplane.task"), 1);
}

TEST_F(ToldLateTest, AFilterMayNameItsNewStage) {
  broker::ListTasksCall call;
  call.filter.queue = "q";
  call.filter.stage = "b";
  call.filter.states = {true, true, true, false, true, false};
  call.limit = 10;
  Later<broker::TaskPage> refused;
  broker().AsOperator().ListTasks(call, refused.done());
  EXPECT_THAT(refused.Get(), ReasonIs("INVALID_FIELD"));
  AddStage();
  Later<broker::TaskPage> page;
  broker().AsOperator().ListTasks(call, page.done());
  EXPECT_THAT(page.Get(), IsOk());
}

}  // namespace
}  // namespace skiplane::testing
