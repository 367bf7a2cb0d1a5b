// Lists that their callers do not read: who has its part gets no more, and others get theirs.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/model/limits.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

constexpr int64_t kPart = model::kListsBytesMax * 3 / 4;

class ListsFullTest : public BrokerHarness {
 protected:
  // Who waits for a task looks at it when that ends, and when there is room for it.
  ListsFullTest() {
    broker_.reset();
    broker_ = NewBroker(true, 4, {std::chrono::hours(1), std::chrono::hours(1)});
    task_ = Enqueue({Payload("first")}).at(0).id;
    for (int i = 0; i < 3; ++i) Enqueue({Payload(std::string(1000000, 'x'))});
  }

  absl::StatusOr<broker::TaskPage> List(const std::string& party) {
    broker::ListTasksCall call;
    call.filter.queue = "q";
    call.filter.states.ready = true;
    call.with_payload = true;
    call.limit = 10;
    call.party = party;
    Later<broker::TaskPage> later;
    broker().AsOperator().ListTasks(std::move(call), later.done());
    return later.Get();
  }

  // Returns at once; the answer may have to wait for the task's end.
  std::shared_ptr<broker::PendingTask> Look(const std::string& party,
                                            Later<broker::TaskDetails>& later,
                                            absl::Duration wait = absl::ZeroDuration()) {
    broker::GetTaskCall call;
    call.id = task_;
    call.wait = wait;
    call.party = party;
    return broker().AsOperator().GetTask(std::move(call), later.done());
  }

  absl::Status StatusOfLook(const std::string& party) {
    Later<broker::TaskDetails> later;
    const auto pending = Look(party, later);
    return later.Get().status();
  }

  // Until there is no room for one more of "greedy".
  void Fill() {
    int64_t held = 0;
    for (auto page = List("greedy"); page.ok(); page = List("greedy")) {
      held += page->tasks.bytes;
      ASSERT_LT(held, model::kListsBytesMax);
      unread_.push_back(*std::move(page));
    }
    EXPECT_GE(held, kPart);
  }

  model::TaskId task_;
  std::vector<broker::TaskPage> unread_;
};

TEST_F(ListsFullTest, OneThatReadsNoneOfThemKeepsNobodyElseFromReading) {
  Fill();
  EXPECT_THAT(List("greedy").status(), ReasonIs("TOO_MANY_CALLS"));
  EXPECT_THAT(StatusOfLook("greedy"), ReasonIs("TOO_MANY_CALLS"));
  EXPECT_THAT(StatusOfLook("other"), IsOk());
  EXPECT_THAT(List("other").status(), IsOk());
  unread_.clear();
  EXPECT_THAT(List("greedy").status(), IsOk());
}

TEST_F(ListsFullTest, WhoWaitsForATaskIsAnsweredOnceItHasReadThem) {
  Later<broker::TaskDetails> later;
  const auto pending = Look("greedy", later, absl::Minutes(2));
  EXPECT_THAT(StatusOfLook("greedy"), IsOk());  // behind the first look of who waits
  Fill();
  EXPECT_EQ(Ack(LeaseOne("w").token), model::SettleOutcome::kSettled);
  EXPECT_THAT(StatusOfLook("greedy"), ReasonIs("TOO_MANY_CALLS"));  // so was who waits
  EXPECT_FALSE(later.is_there());
  unread_.clear();
  const auto details = later.Get();
  ASSERT_THAT(details.status(), IsOk());
  EXPECT_TRUE(model::HasEnded(details->task.state));
}

}  // namespace
}  // namespace skiplane::testing
