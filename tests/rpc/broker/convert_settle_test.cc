// Items of each kind in one call, from the wire, and what a refusal of them names.
#include <gtest/gtest.h>

#include "server/base/reason.h"
#include "server/rpc/broker/convert_settle.h"
#include "tests/rpc/front.h"

namespace skiplane::rpc {
namespace {

TEST(ReadSettle, KeepsTheOrderAndTheKindOfItsItems) {
  v1::SettleRequest request;
  v1::NackItem* const failed = request.add_items()->mutable_nack();
  failed->set_lease_token(GoodToken());
  failed->set_disposition(v1::NACK_DISPOSITION_FAIL);
  failed->mutable_error()->set_type("Oops");
  request.add_items()->mutable_release()->set_lease_token(GoodToken());
  v1::AckItem* const done = request.add_items()->mutable_ack();
  done->set_lease_token(GoodToken());
  done->set_result("r");
  const auto call = ReadSettle(&request);
  ASSERT_TRUE(call.ok()) << call.status();
  ASSERT_EQ(call->items.size(), 3u);
  const auto& nack = std::get<model::NackItem>(call->items[0]);
  EXPECT_EQ(nack.disposition, model::NackDisposition::kFail);
  EXPECT_EQ(nack.error.type, "Oops");
  const auto& release = std::get<model::NackItem>(call->items[1]);
  EXPECT_EQ(release.disposition, model::NackDisposition::kRelease);
  EXPECT_EQ(model::EncodeLeaseToken(release.token), GoodToken());
  EXPECT_EQ(std::get<model::AckItem>(call->items[2]).continuation->result, "r");
  EXPECT_FALSE(call->lease.has_value());
}

TEST(ReadSettle, AnItemThatCannotBeIsRefusedAlone) {
  v1::SettleRequest request;
  v1::NackItem* const bad = request.add_items()->mutable_nack();
  bad->set_lease_token(GoodToken());
  bad->mutable_retry_delay()->set_seconds(-1);
  request.add_items()->mutable_ack()->set_lease_token(GoodToken());
  request.mutable_items(1)->mutable_ack()->set_next_stage("");
  request.add_items()->mutable_release()->set_lease_token(GoodToken());
  const auto call = ReadSettle(&request);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(base::FieldOf(std::get<model::NackItem>(call->items[0]).refusal), "retry_delay");
  EXPECT_EQ(base::FieldOf(std::get<model::AckItem>(call->items[1]).refusal), "next_stage");
  EXPECT_TRUE(std::get<model::NackItem>(call->items[2]).refusal.ok());

  std::vector<model::SettleResult> results(3);
  results[0].refusal = std::get<model::NackItem>(call->items[0]).refusal;
  results[1].refusal = std::get<model::AckItem>(call->items[1]).refusal;
  NamePaths(call->paths, &results);
  EXPECT_EQ(base::FieldOf(results[0].refusal), "nack.retry_delay");
  EXPECT_EQ(base::FieldOf(results[1].refusal), "ack.next_stage");
  EXPECT_TRUE(results[2].refusal.ok());
}

TEST(ReadSettle, AThousandFollowUpsFitACallAndOneMoreDoesNot) {
  v1::SettleRequest request;
  for (int i = 0; i < 10; ++i) {
    v1::AckItem* const item = request.add_items()->mutable_ack();
    item->set_lease_token(GoodToken());
    for (int n = 0; n < 100; ++n) item->add_follow_ups()->set_queue("mail");
  }
  v1::SettleRequest full = request;
  EXPECT_TRUE(ReadSettle(&full).ok());
  v1::AckItem* const last = request.add_items()->mutable_ack();
  last->set_lease_token(GoodToken());
  last->add_follow_ups()->set_queue("mail");
  EXPECT_EQ(base::FieldOf(ReadSettle(&request).status()), "items[10].ack.follow_ups");
}

TEST(ReadSettle, TakesWhatToLeaseNext) {
  v1::SettleRequest request;
  request.add_items()->mutable_release()->set_lease_token(GoodToken());
  request.mutable_lease_next()->add_queues()->set_name("mail");
  request.mutable_lease_next()->set_max_tasks(7);
  const auto call = ReadSettle(&request);
  ASSERT_TRUE(call.ok()) << call.status();
  ASSERT_TRUE(call->lease.has_value());
  EXPECT_EQ(call->lease->max_tasks, 7);
}

}  // namespace
}  // namespace skiplane::rpc
