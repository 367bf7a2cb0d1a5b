#include "server/rpc/admin/convert_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/rpc/admin/convert_bulk.h"
#include "server/rpc/admin/convert_operator.h"

namespace skiplane::rpc {
namespace {

v1::TaskFilter OfQueue() {
  v1::TaskFilter wire;
  wire.set_queue("mail");
  return wire;
}

TEST(ReadFilter, TakesEveryField) {
  v1::TaskFilter wire = OfQueue();
  wire.set_stage("encode");
  wire.add_states(v1::TASK_STATE_READY);
  wire.add_states(v1::TASK_STATE_FAILED);
  wire.set_key_prefix("user:");
  (*wire.mutable_headers())["b"] = "2";
  (*wire.mutable_headers())["a"] = "1";
  wire.set_fingerprint("mine");
  wire.mutable_min_age()->set_seconds(60);
  wire.mutable_max_age()->set_seconds(3600);
  wire.set_priority(0);
  wire.set_periodic(true);
  wire.add_task_ids("5-17");
  wire.add_task_ids("6-18");
  wire.set_error_type("TimeoutError");
  wire.set_min_attempts(3);
  wire.mutable_start_time()->set_seconds(60);
  wire.mutable_end_time()->set_seconds(120);
  wire.set_payload_text("order-17");
  model::TaskFilter expected;
  expected.queue = "mail";
  expected.stage = "encode";
  expected.states.ready = expected.states.failed = true;
  expected.key_prefix = "user:";
  expected.headers = {{"a", "1"}, {"b", "2"}};
  expected.fingerprint = "mine";
  expected.min_age = absl::Minutes(1);
  expected.max_age = absl::Hours(1);
  expected.priority = 0;
  expected.periodic = true;
  expected.ids = {{5, 17}, {6, 18}};
  expected.error_type = "TimeoutError";
  expected.min_attempts = 3;
  expected.start = absl::FromUnixSeconds(60);
  expected.end = absl::FromUnixSeconds(120);
  expected.payload_text = "order-17";
  const auto filter = ReadFilter(&wire);
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(*filter, expected);
}

TEST(ReadFilter, AQueueAloneIsNotNarrow) {
  v1::TaskFilter wire = OfQueue();
  const auto filter = ReadFilter(&wire);
  ASSERT_TRUE(filter.ok());
  EXPECT_FALSE(filter->IsNarrow());
  EXPECT_TRUE(filter->states.IsEmpty());
  EXPECT_EQ(filter->priority, std::nullopt);
}

TEST(ReadFilter, TasksThatAreNotPeriodicAreAChoiceToo) {
  v1::TaskFilter wire = OfQueue();
  EXPECT_EQ(ReadFilter(&wire)->periodic, std::nullopt);
  wire = OfQueue();
  wire.set_periodic(false);
  const auto filter = ReadFilter(&wire);
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(filter->periodic, false);
  EXPECT_TRUE(filter->IsNarrow());
}

TEST(ReadFilter, EachStateIsWhatItIsCalled) {
  const std::pair<v1::TaskState, bool model::TaskStates::*> states[] = {
      {v1::TASK_STATE_SCHEDULED, &model::TaskStates::scheduled},
      {v1::TASK_STATE_READY, &model::TaskStates::ready},
      {v1::TASK_STATE_LEASED, &model::TaskStates::leased},
      {v1::TASK_STATE_SUCCEEDED, &model::TaskStates::succeeded},
      {v1::TASK_STATE_FAILED, &model::TaskStates::failed},
      {v1::TASK_STATE_CANCELLED, &model::TaskStates::cancelled}};
  for (const auto& [state, member] : states) {
    v1::TaskFilter wire = OfQueue();
    wire.add_states(state);
    wire.add_states(state);
    model::TaskStates expected;
    expected.*member = true;
    EXPECT_EQ(ReadFilter(&wire)->states, expected) << state;
  }
}

TEST(ReadFilter, TheBoundsOfARangeBelongToIt) {
  v1::TaskFilter wire = OfQueue();
  wire.mutable_min_age();
  wire.mutable_max_age()->set_seconds(3653LL * 86400);
  wire.set_priority(-32768);
  wire.set_key_prefix(std::string(255, 'k'));
  for (int i = 0; i < 16; ++i) (*wire.mutable_headers())[absl::StrCat("h", i)] = "v";
  const auto filter = ReadFilter(&wire);
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(filter->min_age, absl::ZeroDuration());
}

TEST(ReadListTasks, OneQueueOrSeveral) {
  v1::ListTasksRequest several;
  several.add_queues("mail");
  several.add_queues("sms");
  several.set_order(v1::LIST_ORDER_NEWEST_FIRST);
  v1::ListTasksRequest both = several;
  both.mutable_filter()->set_queue("mail");
  v1::ListTasksRequest bad_name = several;
  bad_name.add_queues("a/b");
  v1::ListTasksRequest many;
  for (int i = 0; i < 101; ++i) many.add_queues("mail");
  v1::ListTasksRequest none;
  v1::ListTasksRequest bad_order = several;
  bad_order.set_order(static_cast<v1::ListOrder>(3));
  v1::ListTasksRequest bad_worker = several;
  bad_worker.set_worker_handle("0123456789ABCDEF");
  several.set_worker_handle("0123456789abcdef");
  const auto call = ReadListTasks(&several);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->worker, "0123456789abcdef");
  EXPECT_EQ(base::FieldOf(ReadListTasks(&bad_worker).status()), "worker_handle");
  EXPECT_EQ(call->queues, (std::vector<std::string>{"mail", "sms"}));
  EXPECT_TRUE(call->newest_first);
  EXPECT_EQ(base::FieldOf(ReadListTasks(&both).status()), "filter.queue");
  EXPECT_EQ(base::FieldOf(ReadListTasks(&bad_name).status()), "queues[2]");
  EXPECT_EQ(base::FieldOf(ReadListTasks(&many).status()), "queues");
  EXPECT_EQ(base::FieldOf(ReadListTasks(&none).status()), "filter.queue");
  EXPECT_EQ(base::FieldOf(ReadListTasks(&bad_order).status()), "order");
}

struct Bad {
  std::function<void(v1::TaskFilter&)> spoil;
  std::string field;
};

void ExpectBad(const Bad& bad) {
  v1::TaskFilter wire = OfQueue();
  bad.spoil(wire);
  const absl::Status status = ReadFilter(&wire).status();
  EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD") << bad.field;
  EXPECT_EQ(base::FieldOf(status), bad.field);
}

TEST(ReadFilter, NamesTheBadField) {
  const std::string nul("a\0b", 3);
  const Bad table[] = {
      {[](auto& x) { x.clear_queue(); }, "filter.queue"},
      {[](auto& x) { x.set_queue("a/b"); }, "filter.queue"},
      {[](auto& x) { x.set_stage(std::string(65, 's')); }, "filter.stage"},
      {[](auto& x) { x.add_states(v1::TASK_STATE_UNSPECIFIED); }, "filter.states[0]"},
      {[](auto& x) {
         while (x.states_size() < 101) x.add_states(v1::TASK_STATE_READY);
       },
       "filter.states"},
      {[](auto& x) {
         x.add_states(v1::TASK_STATE_READY);
         x.add_states(static_cast<v1::TaskState>(7));
       },
       "filter.states[1]"},
      {[](auto& x) { x.set_key_prefix(std::string(256, 'k')); }, "filter.key_prefix"},
      {[&](auto& x) { x.set_key_prefix(nul); }, "filter.key_prefix"},
      {[](auto& x) {
         for (int i = 0; i < 17; ++i) (*x.mutable_headers())[absl::StrCat("h", i)] = "v";
       },
       "filter.headers"},
      {[](auto& x) { (*x.mutable_headers())[""] = "v"; }, "filter.headers[\"\"]"},
      {[&](auto& x) { (*x.mutable_headers())["h"] = nul; }, "filter.headers[\"h\"]"},
      {[](auto& x) { x.set_fingerprint(std::string(257, 'e')); }, "filter.fingerprint"},
      {[](auto& x) { x.mutable_min_age()->set_seconds(-1); }, "filter.min_age"},
      {[](auto& x) { x.mutable_max_age()->set_seconds(3653LL * 86400 + 1); }, "filter.max_age"},
      {[](auto& x) { x.mutable_max_age()->set_nanos(1000000000); }, "filter.max_age"},
      {[](auto& x) { x.set_priority(-32769); }, "filter.priority"},
      {[](auto& x) { x.set_priority(32768); }, "filter.priority"},
  };
  for (const Bad& bad : table) ExpectBad(bad);
}

TEST(ReadStartTime, MayLieInThePastAndTenYearsAheadAtMost) {
  google::protobuf::Timestamp wire;
  wire.set_seconds(1);
  EXPECT_EQ(*ReadStartTime(wire, {"t"}), absl::FromUnixSeconds(1));
  wire.set_seconds(absl::ToUnixSeconds(absl::Now() + absl::Hours(24 * 3655)));
  EXPECT_EQ(base::FieldOf(ReadStartTime(wire, {"t"}).status()), "t");
}

TEST(ReadFilter, NamesTheBadFieldOfThoseSince02) {
  const std::string nul("a\0b", 3);
  const Bad table[] = {
      {[](auto& x) { x.add_task_ids("5"); }, "filter.task_ids[0]"},
      {[](auto& x) {
         while (x.task_ids_size() < 1001) x.add_task_ids("5-17");
       },
       "filter.task_ids"},
      {[](auto& x) { x.set_error_type(std::string(257, 'e')); }, "filter.error_type"},
      {[](auto& x) { x.set_min_attempts(-1); }, "filter.min_attempts"},
      {[](auto& x) { x.set_min_attempts(1001); }, "filter.min_attempts"},
      {[](auto& x) { x.mutable_start_time()->set_nanos(-1); }, "filter.start_time"},
      {[](auto& x) { x.mutable_end_time()->set_seconds(1LL << 40); }, "filter.end_time"},
      {[](auto& x) {
         x.mutable_start_time()->set_seconds(60);
         x.mutable_end_time()->set_seconds(60);
       },
       "filter.end_time"},
      {[&](auto& x) { x.set_payload_text(nul); }, "filter.payload_text"},
      {[](auto& x) { x.set_payload_text(std::string(257, 'p')); }, "filter.payload_text"},
  };
  for (const Bad& bad : table) ExpectBad(bad);
}

}  // namespace
}  // namespace skiplane::rpc
