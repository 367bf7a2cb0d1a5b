// What an ack says beside that the attempt succeeded, from the wire and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "server/base/reason.h"
#include "server/rpc/broker/convert_settle.h"
#include "tests/rpc/front.h"

namespace skiplane::rpc {
namespace {

struct Bad {
  std::string name;
  std::function<void(v1::AckItem&)> spoil;
  std::string field;
};

const model::AckItem& AckIn(const SettleCall& call, size_t index) {
  return std::get<model::AckItem>(call.items.at(index));
}

// Why the second of two items is refused, which is spoilt. The first one must be taken.
absl::Status RefusalOf(const std::function<void(v1::AckItem&)>& spoil) {
  v1::AckRequest request;
  for (int i = 0; i < 2; ++i) request.add_items()->set_lease_token(GoodToken());
  spoil(*request.mutable_items(1));
  const auto call = ReadAck(&request);
  EXPECT_TRUE(call.ok()) << call.status();
  if (!call.ok()) return absl::OkStatus();
  EXPECT_TRUE(AckIn(*call, 0).refusal.ok());
  EXPECT_EQ(AckIn(*call, 1).continuation, nullptr);
  return AckIn(*call, 1).refusal;
}

void ExpectRefused(const std::vector<Bad>& table) {
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.name);
    const absl::Status refusal = RefusalOf(bad.spoil);
    EXPECT_EQ(base::ReasonOf(refusal), "INVALID_FIELD");
    EXPECT_EQ(base::FieldOf(refusal), bad.field);
  }
}

std::string WithNul() { return std::string("a\0b", 3); }

TEST(ReadAck, APlainItemSaysNothingMore) {
  v1::AckRequest request;
  request.add_items()->set_lease_token(GoodToken());
  const auto call = ReadAck(&request);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(model::EncodeLeaseToken(AckIn(*call, 0).token), GoodToken());
  EXPECT_EQ(AckIn(*call, 0).continuation, nullptr);
}

TEST(ReadAck, TakesAllThatAnItemSays) {
  v1::AckRequest request;
  v1::AckItem* item = request.add_items();
  item->set_lease_token(GoodToken());
  item->set_next_stage("encode");
  item->mutable_next_payload()->set_payload("new");
  item->mutable_next_payload()->set_content_type("text/plain");
  (*item->mutable_next_payload()->mutable_headers())["h"] = "v";
  item->set_result(std::string("\0r", 2));
  for (const char* queue : {"mail", "index"}) {
    v1::NewTask* follow_up = item->add_follow_ups();
    follow_up->set_queue(queue);
    follow_up->set_payload(std::string("for ") + queue);
  }
  const auto call = ReadAck(&request);
  ASSERT_TRUE(call.ok()) << call.status();
  const model::AckContinuation& continuation = *AckIn(*call, 0).continuation;
  EXPECT_EQ(continuation.next_stage, "encode");
  EXPECT_FALSE(continuation.finish);
  EXPECT_EQ(continuation.next_content->payload, "new");
  EXPECT_EQ(continuation.next_content->content_type, "text/plain");
  EXPECT_EQ(continuation.next_content->headers, (model::Headers{{"h", "v"}}));
  EXPECT_EQ(continuation.result, std::string("\0r", 2));
  ASSERT_EQ(continuation.follow_ups.size(), 2u);
  EXPECT_EQ(continuation.follow_ups[0].queue, "mail");
  EXPECT_EQ(continuation.follow_ups[1].payload, "for index");
}

TEST(ReadAck, EachPartAloneIsEnoughToBeRead) {
  const std::function<void(v1::AckItem&)> parts[] = {
      [](v1::AckItem& x) { x.mutable_finish(); },
      [](v1::AckItem& x) { x.set_next_stage("s"); },
      [](v1::AckItem& x) { x.mutable_next_payload(); },
      [](v1::AckItem& x) { x.set_result("r"); },
      [](v1::AckItem& x) { x.add_follow_ups()->set_queue("q"); }};
  for (const auto& part : parts) {
    v1::AckRequest request;
    request.add_items()->set_lease_token(GoodToken());
    part(*request.mutable_items(0));
    const auto call = ReadAck(&request);
    ASSERT_TRUE(call.ok()) << call.status();
    const model::AckContinuation* continuation = AckIn(*call, 0).continuation.get();
    ASSERT_NE(continuation, nullptr);
    EXPECT_EQ(continuation->finish + !continuation->next_stage.empty() +
                  continuation->next_content.has_value() + !continuation->result.empty() +
                  !continuation->follow_ups.empty(),
              1);
  }
}

TEST(ReadAck, NamesWhatCannotComeAfterAnAttempt) {
  ExpectRefused({
      {"stage_empty", [](auto& x) { x.set_next_stage(""); }, "next_stage"},
      {"stage_too_long", [](auto& x) { x.set_next_stage(std::string(65, 's')); }, "next_stage"},
      {"stage_with_nul", [](auto& x) { x.set_next_stage(WithNul()); }, "next_stage"},
      {"payload_too_long",
       [](auto& x) { x.mutable_next_payload()->set_payload(std::string((1 << 20) + 1, 'p')); },
       "next_payload.payload"},
      {"content_type_too_long",
       [](auto& x) { x.mutable_next_payload()->set_content_type(std::string(256, 'c')); },
       "next_payload.content_type"},
      {"header_with_nul",
       [](auto& x) { (*x.mutable_next_payload()->mutable_headers())["h"] = WithNul(); },
       "next_payload.headers[\"h\"]"},
      {"result_too_long", [](auto& x) { x.set_result(std::string((1 << 20) + 1, 'r')); },
       "result"},
  });
}

// An item whose second follow-up is spoilt.
std::function<void(v1::AckItem&)> FollowUp(const std::function<void(v1::NewTask&)>& spoil) {
  return [spoil](v1::AckItem& item) {
    for (int i = 0; i < 2; ++i) item.add_follow_ups()->set_queue("mail");
    spoil(*item.mutable_follow_ups(1));
  };
}

TEST(ReadAck, NamesABadFollowUp) {
  ExpectRefused({
      {"queue_missing", FollowUp([](auto& x) { x.clear_queue(); }), "follow_ups[1].queue"},
      {"queue_bad", FollowUp([](auto& x) { x.set_queue("no name!"); }), "follow_ups[1].queue"},
      {"policy_set",
       FollowUp([](auto& x) {
         x.set_key("k");
         x.set_key_policy(v1::KEY_POLICY_KEEP);
       }),
       "follow_ups[1].key_policy"},
      {"priority", FollowUp([](auto& x) { x.set_priority(32768); }),
       "follow_ups[1].priority"},
      {"header", FollowUp([](auto& x) { (*x.mutable_headers())[""] = "v"; }),
       "follow_ups[1].headers[\"\"]"},
      {"too_many",
       [](auto& x) {
         for (int i = 0; i < 101; ++i) x.add_follow_ups()->set_queue("mail");
       },
       "follow_ups"},
  });
}

TEST(ReadAck, AThousandFollowUpsFitACallAndOneMoreDoesNot) {
  v1::AckRequest request;
  for (int i = 0; i < 10; ++i) {
    v1::AckItem* item = request.add_items();
    item->set_lease_token(GoodToken());
    for (int n = 0; n < 100; ++n) item->add_follow_ups()->set_queue("mail");
  }
  v1::AckRequest full = request;
  EXPECT_TRUE(ReadAck(&full).ok());
  v1::AckItem* last = request.add_items();
  last->set_lease_token(GoodToken());
  last->add_follow_ups()->set_queue("mail");
  EXPECT_EQ(base::FieldOf(ReadAck(&request).status()), "items[10].follow_ups");
}

TEST(WriteResults, TellsWhatBecameOfWhatWasSettledOnly) {
  model::SettleResult moved;
  moved.outcome = model::SettleOutcome::kSettled;
  moved.state = model::TaskState::kReady;
  moved.stage = "encode";
  moved.schedule_time = absl::FromUnixSeconds(1800000000);
  moved.follow_ups = {{{7, 1}, model::EnqueueOutcome::kCreated},
                      {{7, 2}, model::EnqueueOutcome::kExisting}};
  model::SettleResult lost = moved;
  lost.outcome = model::SettleOutcome::kLeaseLost;
  std::vector<model::SettleResult> results = {moved, lost};
  v1::AckResponse response;
  WriteSettled(&results, &response);
  const v1::SettleResult& told = response.results(0);
  EXPECT_EQ(told.state(), v1::TASK_STATE_READY);
  EXPECT_EQ(told.stage(), "encode");
  EXPECT_EQ(told.schedule_time().seconds(), 1800000000);
  ASSERT_EQ(told.follow_ups_size(), 2);
  EXPECT_EQ(told.follow_ups(1).task_id(), model::FormatTaskId({7, 2}));
  EXPECT_EQ(told.follow_ups(1).outcome(), v1::ENQUEUE_OUTCOME_EXISTING);
  EXPECT_FALSE(told.has_refusal());
  v1::SettleResult only_outcome;
  only_outcome.set_outcome(v1::SETTLE_OUTCOME_LEASE_LOST);
  EXPECT_EQ(response.results(1).SerializeAsString(), only_outcome.SerializeAsString());
}

TEST(WriteResults, TellsWhyAnItemWasRefused) {
  model::SettleResult refused;
  refused.outcome = model::SettleOutcome::kRefused;
  refused.refusal = base::InvalidField("next_stage", std::string(5000, 'x'));
  std::vector<model::SettleResult> results = {refused};
  v1::AckResponse response;
  WriteSettled(&results, &response);
  const v1::SettleResult& told = response.results(0);
  EXPECT_EQ(told.outcome(), v1::SETTLE_OUTCOME_REFUSED);
  EXPECT_EQ(told.state(), v1::TASK_STATE_UNSPECIFIED);
  EXPECT_EQ(told.refusal().reason(), "INVALID_FIELD");
  EXPECT_EQ(told.refusal().field(), "next_stage");
  EXPECT_EQ(told.refusal().message().size(), 512u);
}

}  // namespace
}  // namespace skiplane::rpc
