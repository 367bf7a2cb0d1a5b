// Leases that name a queue of several stages more than once.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
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
    MakeQueue("staged", /*lanes=*/1, /*stages=*/2);
    Later<std::vector<broker::EnqueueResult>> enqueued;
    broker().Enqueue({"staged", std::vector<model::NewTask>(4, Payload("x")), ""},
                     enqueued.done());
    EXPECT_THAT(enqueued.Get(), IsOk());
  }

  // Its stages are "s0", "s1" and so on.
  void MakeQueue(const std::string& name, int lanes, int stages) {
    broker::CreateQueueCall call;
    call.name = name;
    call.lane_count = lanes;
    call.settings.emplace().stages.resize(static_cast<size_t>(stages));
    for (int i = 0; i < stages; ++i) {
      call.settings->stages[static_cast<size_t>(i)].name = absl::StrCat("s", i);
    }
    call.origin = Origin();
    Later<model::Queue> made;
    broker().CreateQueue(std::move(call), made.done());
    EXPECT_THAT(made.Get(), IsOk());
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
    broker::LeaseCall call = Call({{"staged", 1, ""}, {"staged", 1, "s0"}}, 1);
    call.request_id = request_id;
    EXPECT_THAT(Lease(call).tasks, SizeIs(1)) << "request id '" << request_id << "'";
  }
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2"), 2);
}

// A call that names all stages of all lanes of 64 queues took 100 MB, and its repeat as much.
TEST_F(LeaseStagesTest, ACallWithTooManyPlacesIsRefusedAndSaysWhatIsTooMuch) {
  std::vector<broker::LeaseQueue> wide, narrow;
  for (const char* name : {"a", "b", "c", "d"}) {
    MakeQueue(name, /*lanes=*/64, /*stages=*/100);
    wide.push_back({name, 1, ""});
    narrow.push_back({name, 1, "s7"});
  }
  Later<broker::LeaseAnswer> refused;
  broker().Lease(Call(wide, 1), refused.done());
  const absl::Status refusal = refused.Get().status();
  EXPECT_EQ(refusal.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refusal.message()), HasSubstr("25600 stages"));
  broker::LeaseCall at_once = Call(narrow, 1);
  at_once.wait = absl::ZeroDuration();
  EXPECT_THAT(Lease(at_once).tasks, IsEmpty());
}

// What a lane holds for a request id was looked for once per stage that the call names.
TEST_F(LeaseStagesTest, ARepeatForTwoStagesGetsEachTaskOnce) {
  broker::LeaseCall call = Call({{"staged", 1, "s0"}, {"staged", 1, "s1"}}, 3);
  call.request_id = "r";
  const std::vector<int64_t> first = IdsOf(Lease(call));
  ASSERT_THAT(first, SizeIs(3));
  EXPECT_THAT(IdsOf(Lease(call)), UnorderedElementsAreArray(first));
}

}  // namespace
}  // namespace skiplane::testing
