// What a broker finds out about its own settlements whose answer it never got.
#include "gmock/gmock.h"
#include "server/store/settle.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::IsEmpty;
using testing::IsOkAndHolds;
using testing::Required;

constexpr int64_t kTry = 7;
constexpr int64_t kOtherTry = 8;

class RecallTest : public testing::StoreHarness {
 protected:
  // By id, as the try `try_id`.
  Settled End(const model::LeaseToken& token, Action action, int64_t try_id = kTry,
              std::optional<int16_t> next_stage = std::nullopt) {
    SettleBatch batch = Batch({token}, action);
    batch.try_id = try_id;
    batch.rows.front().next_stage = next_stage;
    const std::vector<Settled> settled = Required(store::Settle(*session_, batch));
    testing::Require(settled.size() == 1, "one item was to be settled");
    return settled.front();
  }

  Recalled RecallOne(const model::LeaseToken& token) {
    const std::vector<Recalled> found =
        Required(Recall(*session_, lane_, {{token, {kOtherTry, kTry}}}));
    testing::Require(found.size() == 1, "one settlement was to be found");
    return found.front();
  }
};

TEST_F(RecallTest, AcksByLocationAreFound) {
  Put(3);
  const auto tokens = testing::TokensOf(Take(3));
  SettleBatch batch = Batch({tokens[0], tokens[2]});
  batch.try_id = kTry;
  ASSERT_THAT(AckByLocation(*session_, batch), IsOkAndHolds(::testing::SizeIs(2)));
  const std::vector<Recalled> found = Required(Recall(
      *session_, lane_, {{tokens[0], {kTry}}, {tokens[1], {kTry}}, {tokens[2], {kTry}}}));
  ASSERT_EQ(found.size(), 2u);
  for (const Recalled& each : found) {
    EXPECT_NE(each.index, 1u);
    EXPECT_EQ(each.transition, Transition::kSucceeded);
    EXPECT_FALSE(each.schedule_time.has_value());
  }
}

TEST_F(RecallTest, WhatAnotherTrySettledIsNotOurs) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kAck, 9);
  EXPECT_THAT(Recall(*session_, lane_, {{token, {kTry, kOtherTry}}}), IsOkAndHolds(IsEmpty()));
}

TEST_F(RecallTest, ARetryIsFoundWithItsRunTime) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  const Settled settled = End(token, Action::kRetry);
  const Recalled recalled = RecallOne(token);
  EXPECT_EQ(recalled.outcome, Action::kRetry);
  EXPECT_EQ(recalled.transition, Transition::kIsRetried);
  EXPECT_EQ(recalled.settle_time, settled.now);
  EXPECT_EQ(recalled.schedule_time, settled.schedule_time);
}

TEST_F(RecallTest, AMoveIsFoundAfterTheTaskWasLeasedAgain) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  const Settled settled = End(token, Action::kRelease);
  TakeOne(testing::kOtherWorker);
  const Recalled recalled = RecallOne(token);
  EXPECT_EQ(recalled.transition, Transition::kGoesBack);
  EXPECT_EQ(recalled.schedule_time, settled.schedule_time);
}

TEST_F(RecallTest, TheRunTimeOfATaskThatWasSettledAgainIsNotOurs) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kRelease);
  End(TakeOne(testing::kOtherWorker), Action::kRetry, kOtherTry);
  const Recalled recalled = RecallOne(token);
  EXPECT_EQ(recalled.transition, Transition::kGoesBack);
  EXPECT_FALSE(recalled.schedule_time.has_value());
}

TEST_F(RecallTest, TransitionsOfOneStatementAreToldApart) {
  Put(2);
  const auto tokens = testing::TokensOf(Take(2));
  SettleBatch batch = Batch(tokens);
  batch.try_id = kTry;
  batch.rows[1].next_stage = 1;
  ASSERT_THAT(store::Settle(*session_, batch), IsOkAndHolds(::testing::SizeIs(2)));
  EXPECT_EQ(RecallOne(tokens[0]).transition, Transition::kSucceeded);
  EXPECT_EQ(RecallOne(tokens[1]).transition, Transition::kMovesOn);
  EXPECT_EQ(RecallOne(tokens[1]).outcome, Action::kAck);
}

}  // namespace
}  // namespace skiplane::store
