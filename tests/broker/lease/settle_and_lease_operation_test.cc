#include "server/broker/lease/settle_and_lease_operation.h"

#include <optional>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

using Answer = absl::StatusOr<SettleAndLeaseAnswer>;

class SettleAndLeaseOperationTest : public ::testing::Test {
 protected:
  SettleAndLeasePtr Make(LeaseCall call = {}) {
    return std::make_shared<SettleAndLeaseOperation>(
        std::move(call), [this](Answer answer) { answer_ = std::move(answer); },
        [this](const LeaseAnswer& late) { handed_back_ += late.tasks.size(); });
  }
  static std::vector<model::SettleResult> Results() {
    return std::vector<model::SettleResult>(2);
  }
  static LeaseAnswer Tasks(size_t count) {
    LeaseAnswer answer;
    answer.tasks.resize(count);
    return answer;
  }

  std::optional<Answer> answer_;
  size_t handed_back_ = 0;
};

TEST_F(SettleAndLeaseOperationTest, AfterTheItemsTheCallerBeginsTheLease) {
  const SettleAndLeasePtr next = Make();
  EXPECT_TRUE(next->Settled(Results()));
  EXPECT_FALSE(answer_.has_value());
  next->Leased(Tasks(3));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->results.size(), 2u);
  EXPECT_EQ((*answer_)->lease->tasks.size(), 3u);
}

TEST_F(SettleAndLeaseOperationTest, WithinTheSettlementNobodyElseBeginsIt) {
  const SettleAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->TryReserve());
  next->Leased(Tasks(1));
  EXPECT_FALSE(answer_.has_value());
  EXPECT_FALSE(next->Settled(Results()));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->lease->tasks.size(), 1u);
}

TEST_F(SettleAndLeaseOperationTest, ATransactionThatWasRolledBackIsNotTriedTwice) {
  const SettleAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Declined()) << "the settlement goes on";
  EXPECT_FALSE(next->TryReserve());
  EXPECT_TRUE(next->Settled(Results()));
}

// The items were told first: whoever hears that nothing was leased begins the lease.
TEST_F(SettleAndLeaseOperationTest, AReservationThatGotNothingIsBegunAnewAfterTheItems) {
  const SettleAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Settled(Results()));
  EXPECT_FALSE(answer_.has_value());
  EXPECT_TRUE(next->Declined());
  next->Leased(Tasks(2));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->lease->tasks.size(), 2u);
}

TEST_F(SettleAndLeaseOperationTest, ACancelledOneThatGotNothingIsAnsweredInstead) {
  const SettleAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Settled(Results()));
  next->Cancel();
  EXPECT_FALSE(answer_.has_value());
  EXPECT_FALSE(next->Declined());
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->results.size(), 2u);
  EXPECT_FALSE((*answer_)->lease.has_value());
}

TEST_F(SettleAndLeaseOperationTest, ACancelledReservationHandsItsTasksBack) {
  const SettleAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  next->Cancel();
  next->Leased(Tasks(3));
  EXPECT_EQ(handed_back_, 3u);
  EXPECT_FALSE(next->Settled(Results()));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
}

TEST_F(SettleAndLeaseOperationTest, ALeaseThatFailedAfterTheItemsLeavesTheirResults) {
  const SettleAndLeasePtr next = Make();
  EXPECT_TRUE(next->Settled(Results()));
  next->Leased(absl::UnavailableError("draining"));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->results.size(), 2u);
  EXPECT_FALSE((*answer_)->lease.has_value());
  EXPECT_EQ((*answer_)->lease_refusal, absl::UnavailableError("draining"));
}

TEST_F(SettleAndLeaseOperationTest, ItemsThatFailedFailTheCallAndHandItsLeasesBack) {
  const SettleAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Settled(absl::UnavailableError("gone")));
  ASSERT_TRUE(answer_.has_value());
  EXPECT_FALSE(answer_->ok());
  next->Leased(Tasks(4));
  EXPECT_EQ(handed_back_, 4u);
}

TEST_F(SettleAndLeaseOperationTest, LateLeasesOfARepeatableCallWaitForItsRepeat) {
  LeaseCall call;
  call.request_id = "r";
  const SettleAndLeasePtr next = Make(call);
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Settled(absl::UnavailableError("gone")));
  next->Leased(Tasks(4));
  EXPECT_EQ(handed_back_, 0u);
}

TEST_F(SettleAndLeaseOperationTest, ACancelledCallIsSettledAndLeasesNothing) {
  const SettleAndLeasePtr next = Make();
  next->Cancel();
  EXPECT_FALSE(next->TryReserve());
  EXPECT_FALSE(next->Settled(Results()));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_FALSE((*answer_)->lease.has_value());
}

TEST_F(SettleAndLeaseOperationTest, ItsWaitShrinksWhileItSettles) {
  LeaseCall call;
  call.wait = absl::Nanoseconds(1);
  EXPECT_EQ(Make(call)->Call().wait, absl::Milliseconds(1));
  EXPECT_EQ(Make()->Call().wait, absl::ZeroDuration());
}

}  // namespace
}  // namespace skiplane::broker
