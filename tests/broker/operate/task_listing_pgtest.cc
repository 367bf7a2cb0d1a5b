// Lists of tasks over queues, lanes and states: each task once, in the order of the ids.
#include <algorithm>
#include <set>

#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TaskListingTest : public BrokerHarness {
 protected:
  std::vector<int64_t> PutInto(const std::string& queue, int count,
                               const std::string& payload = "p") {
    broker::EnqueueCall call;
    call.queue = queue;
    for (int i = 0; i < count; ++i) call.tasks.push_back(Payload(payload));
    Later<std::vector<broker::EnqueueResult>> later;
    broker().Enqueue(std::move(call), later.done());
    std::vector<int64_t> ids;
    for (const auto& result : Required(later.Get())) ids.push_back(result.id.id);
    return ids;
  }

  static broker::ListTasksCall All(std::vector<std::string> queues) {
    broker::ListTasksCall call;
    call.queues = std::move(queues);
    call.filter.states = {true, true, true, true, true, true};
    call.limit = 100;
    return call;
  }

  broker::TaskPage Page(const broker::ListTasksCall& call) {
    Later<broker::TaskPage> later;
    broker().AsOperator().ListTasks(call, later.done());
    return Required(later.Get());
  }

  // Of all pages.
  std::vector<int64_t> Ids(broker::ListTasksCall call) {
    std::vector<int64_t> ids;
    for (;;) {
      const broker::TaskPage page = Page(call);
      EXPECT_LE(page.tasks.items.size(), static_cast<size_t>(call.limit));
      for (const model::TaskView& task : page.tasks.items) ids.push_back(task.id.id);
      if (!page.next.has_value()) return ids;
      call.after = page.next;
    }
  }

  // In both orders, on pages of some sizes.
  void ExpectIds(broker::ListTasksCall call, std::vector<int64_t> expected) {
    std::sort(expected.begin(), expected.end());
    for (const bool newest_first : {false, true}) {
      call.newest_first = newest_first;
      for (const int limit : {1, 7, 1000}) {
        call.limit = limit;
        EXPECT_EQ(Ids(call), expected) << "newest first: " << newest_first << ", of " << limit;
      }
      std::reverse(expected.begin(), expected.end());
    }
  }
};

TEST_F(TaskListingTest, SeveralQueuesAndStatesAreOneList) {
  std::vector<int64_t> all;
  for (const std::string queue : {"a", "b", "q", "a", "b", "q", "a"}) {
    for (const int64_t id : PutInto(queue, 5)) all.push_back(id);
  }
  for (const int64_t id : PutInto("a", 70)) all.push_back(id);  // packed
  PutInto("other", 3);
  for (int i = 0; i < 4; ++i) {
    const model::LeasedTask task = LeaseOne("w");
    if (i < 2) {
      EXPECT_EQ(Ack(task.token), model::SettleOutcome::kSettled);
    } else if (i == 2) {
      model::NackItem item;
      item.token = task.token;
      item.disposition = model::NackDisposition::kFail;
      EXPECT_EQ(Nack(item).outcome, model::SettleOutcome::kSettled);
    }
  }
  ExpectIds(All({"a", "b", "q", "a"}), all);
}

TEST_F(TaskListingTest, EachTaskHasTheNameOfItsQueue) {
  PutInto("a", 1);
  PutInto("b", 1);
  const broker::TaskPage page = Page(All({"b", "a"}));
  ASSERT_THAT(page.tasks.items, SizeIs(2));
  EXPECT_EQ(page.tasks.items[0].queue, "a");
  EXPECT_EQ(page.tasks.items[1].queue, "b");
}

TEST_F(TaskListingTest, AQueueThatIsNotThereIsNamed) {
  PutInto("a", 1);
  Later<broker::TaskPage> later;
  broker().AsOperator().ListTasks(All({"a", "none"}), later.done());
  const absl::Status refused = later.Get().status();
  EXPECT_EQ(base::ReasonOf(refused), "QUEUE_NOT_FOUND");
  EXPECT_EQ(base::FieldOf(refused), "queues[1]");
}

TEST_F(TaskListingTest, LargePayloadsEndAPageInBothOrders) {
  const std::vector<int64_t> ids = PutInto("q", 7, std::string(1000000, 'x'));
  broker::ListTasksCall call = All({"q"});
  call.with_payload = true;
  EXPECT_EQ(Page(call).tasks.items.size(), 3u);
  ExpectIds(call, ids);
}

TEST_F(TaskListingTest, OnlySomeIdsOfSomeQueues) {
  const std::vector<int64_t> packed = PutInto("a", 100);
  const std::vector<int64_t> rows = PutInto("b", 3);
  const auto lane_of = [this](const std::string& queue) {
    return Number("SELECT l.lane FROM skiplane.queue_lane l JOIN skiplane.queue q"
                  " ON q.id = l.queue_id WHERE q.name = '" + queue + "'");
  };
  broker::ListTasksCall call = All({"a", "b"});
  for (const size_t i : {0u, 63u, 64u, 99u}) call.filter.ids.push_back({lane_of("a"), packed[i]});
  call.filter.ids.push_back({lane_of("a"), packed[63]});  // named again
  call.filter.ids.push_back({lane_of("b"), rows[1]});
  call.filter.ids.push_back({lane_of("b"), packed[5]});  // of another queue
  ExpectIds(call, {packed[0], packed[63], packed[64], packed[99], rows[1]});
}

TEST_F(TaskListingTest, WhatFilterFieldsOf02Mean) {
  const std::vector<int64_t> first = PutInto("q", 2, "one needle");
  const std::vector<int64_t> second = PutInto("q", 2, std::string(66000, 'x') + "needle");
  const model::LeasedTask task = LeaseOne("w");
  model::NackItem item;
  item.token = task.token;
  item.error = {"TimeoutError", "", "late"};
  EXPECT_EQ(Nack(item).outcome, model::SettleOutcome::kSettled);
  const auto ids_of = [this](auto set) {
    broker::ListTasksCall call = All({"q"});
    set(call.filter);
    return Ids(call);
  };
  EXPECT_THAT(ids_of([](auto& filter) { filter.payload_text = "needle"; }),
              ElementsAre(first[0], first[1]));
  EXPECT_THAT(ids_of([](auto& filter) { filter.payload_text = "%"; }), IsEmpty());
  EXPECT_THAT(ids_of([](auto& filter) { filter.error_type = "TimeoutError"; }),
              ElementsAre(task.token.task.id));
  EXPECT_THAT(ids_of([](auto& filter) { filter.error_type = "Timeout"; }), IsEmpty());
  EXPECT_THAT(ids_of([](auto& filter) { filter.min_attempts = 1; }),
              ElementsAre(task.token.task.id));
  Sql("UPDATE skiplane.task SET create_time = '2026-01-02' WHERE id = " +
      std::to_string(second[1]));
  const absl::Time day = absl::FromCivil(absl::CivilDay(2026, 1, 2), absl::UTCTimeZone());
  EXPECT_THAT(ids_of([&](auto& filter) { filter.end = day + absl::Seconds(1); }),
              ElementsAre(second[1]));
  EXPECT_THAT(ids_of([&](auto& filter) { filter.start = day; }), SizeIs(4));
  EXPECT_THAT(ids_of([&](auto& filter) { filter.start = day + absl::Seconds(1); }), SizeIs(3));
  EXPECT_THAT(ids_of([&](auto& filter) { filter.end = day; }), IsEmpty());
}

// The broker of 0.1 would take the filter for one that says less, and change other tasks.
TEST_F(TaskListingTest, OlderBrokersLeaveABulkOperationWithANewFilterAlone) {
  const std::vector<int64_t> ids = PutInto("q", 30);
  broker::StartBulkCall call;
  call.filter.queue = "q";
  call.filter.states = {true, true, true, false, false, false};
  const int64_t lane = Number("SELECT lane FROM skiplane.queue_lane");
  call.filter.ids = {{lane, ids[3]}, {lane, ids[20]}};
  call.change.kind = model::TaskChange::Kind::kCancel;
  call.wait = absl::Minutes(1);
  call.origin = Origin();
  Sql("CREATE TABLE public.seen AS SELECT b.state FROM skiplane.bulk_operation b;"
      "CREATE RULE seen AS ON INSERT TO skiplane.bulk_operation"
      " DO ALSO INSERT INTO public.seen VALUES (NEW.state);"
      "GRANT INSERT ON public.seen TO PUBLIC");
  Later<model::BulkOperation> later;
  broker().AsOperator().StartBulk(call, later.done());
  const model::BulkOperation done = Required(later.Get());
  EXPECT_EQ(Sql("SELECT state FROM public.seen"), "4") << "they make steps of state 1";
  EXPECT_EQ(done.state, model::BulkOperationState::kDone);
  EXPECT_EQ(done.total, 2);
  EXPECT_EQ(done.matched, 2);
  EXPECT_EQ(done.changed, 2);
  EXPECT_THAT(Ids(All({"q"})), SizeIs(30));
  broker::ListTasksCall left = All({"q"});
  left.filter.states = {true, true, true, false, false, false};
  EXPECT_THAT(Ids(left), SizeIs(28));
}

}  // namespace
}  // namespace skiplane::testing
