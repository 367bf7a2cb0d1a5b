// Leases that name a queue of several stages more than once.
#include <vector>

#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

std::vector<int64_t> IdsOf(const broker::LeaseAnswer& answer) {
  std::vector<int64_t> ids;
  for (const model::LeasedTask& task : answer.tasks) ids.push_back(task.token.task.id);
  return ids;
}

class LeaseStagesTest : public BrokerHarness {
 protected:
  LeaseStagesTest() {
    broker::CreateQueueCall call;
    call.name = "staged";
    call.lane_count = 1;
    call.settings.emplace().stages.resize(2);
    call.settings->stages[0].name = "a";
    call.settings->stages[1].name = "b";
    call.origin = Origin();
    Later<model::Queue> made;
    broker().CreateQueue(std::move(call), made.done());
    EXPECT_THAT(made.Get(), IsOk());
    Later<std::vector<broker::EnqueueResult>> enqueued;
    broker().Enqueue({"staged", std::vector<model::NewTask>(4, Payload("x")), ""},
                     enqueued.done());
    EXPECT_THAT(enqueued.Get(), IsOk());
  }

  static broker::LeaseCall Call(std::vector<broker::LeaseQueue> queues, int max_tasks) {
    broker::LeaseCall call = LeaseOf("w", max_tasks, absl::Seconds(30));
    call.queues = std::move(queues);
    return call;
  }
};

// The call stood twice in the list of the stage, was served twice and then answered twice.
TEST_F(LeaseStagesTest, AQueueAndAStageOfItAreOnePlace) {
  for (const char* request_id : {"", "r"}) {
    broker::LeaseCall call = Call({{"staged", 1, ""}, {"staged", 1, "a"}}, 1);
    call.request_id = request_id;
    EXPECT_THAT(Lease(call).tasks, SizeIs(1)) << "request id '" << request_id << "'";
  }
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2"), 2);
}

// What a lane holds for a request id was looked for once per stage that the call names.
TEST_F(LeaseStagesTest, ARepeatForTwoStagesGetsEachTaskOnce) {
  broker::LeaseCall call = Call({{"staged", 1, "a"}, {"staged", 1, "b"}}, 3);
  call.request_id = "r";
  const std::vector<int64_t> first = IdsOf(Lease(call));
  ASSERT_THAT(first, SizeIs(3));
  EXPECT_THAT(IdsOf(Lease(call)), UnorderedElementsAreArray(first));
}

}  // namespace
}  // namespace skiplane::testing
