#include "server/broker/lease/ack_and_lease_operation.h"

#include <optional>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

using Answer = absl::StatusOr<AckAndLeaseAnswer>;

class AckAndLeaseOperationTest : public ::testing::Test {
 protected:
  AckAndLeasePtr Make(LeaseCall call = {}) {
    return std::make_shared<AckAndLeaseOperation>(
        std::move(call), [this](Answer answer) { answer_ = std::move(answer); },
        [this](const LeaseAnswer& late) { handed_back_ += late.tasks.size(); });
  }
  static std::vector<model::AckResult> Acked() { return std::vector<model::AckResult>(2); }
  static LeaseAnswer Tasks(size_t count) {
    LeaseAnswer answer;
    answer.tasks.resize(count);
    return answer;
  }

  std::optional<Answer> answer_;
  size_t handed_back_ = 0;
};

TEST_F(AckAndLeaseOperationTest, AfterTheAcksTheCallerBeginsTheLease) {
  const AckAndLeasePtr next = Make();
  EXPECT_TRUE(next->Acked(Acked()));
  EXPECT_FALSE(answer_.has_value());
  next->Leased(Tasks(3));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->results.size(), 2u);
  EXPECT_EQ((*answer_)->lease->tasks.size(), 3u);
}

TEST_F(AckAndLeaseOperationTest, WithinTheAcksNobodyElseBeginsIt) {
  const AckAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->TryReserve());
  next->Leased(Tasks(1));
  EXPECT_FALSE(answer_.has_value());
  EXPECT_FALSE(next->Acked(Acked()));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->lease->tasks.size(), 1u);
}

TEST_F(AckAndLeaseOperationTest, ATransactionThatWasRolledBackIsNotTriedTwice) {
  const AckAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Declined()) << "the acks go on";
  EXPECT_FALSE(next->TryReserve());
  EXPECT_TRUE(next->Acked(Acked()));
}

// The acks were told first: whoever hears that nothing was leased begins the lease.
TEST_F(AckAndLeaseOperationTest, AReservationThatGotNothingIsBegunAnewAfterTheAcks) {
  const AckAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Acked(Acked()));
  EXPECT_FALSE(answer_.has_value());
  EXPECT_TRUE(next->Declined());
  next->Leased(Tasks(2));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->lease->tasks.size(), 2u);
}

TEST_F(AckAndLeaseOperationTest, ACancelledOneThatGotNothingIsAnsweredInstead) {
  const AckAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Acked(Acked()));
  next->Cancel();
  EXPECT_FALSE(answer_.has_value());
  EXPECT_FALSE(next->Declined());
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->results.size(), 2u);
  EXPECT_FALSE((*answer_)->lease.has_value());
}

TEST_F(AckAndLeaseOperationTest, ACancelledReservationHandsItsTasksBack) {
  const AckAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  next->Cancel();
  next->Leased(Tasks(3));
  EXPECT_EQ(handed_back_, 3u);
  EXPECT_FALSE(next->Acked(Acked()));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
}

TEST_F(AckAndLeaseOperationTest, ALeaseThatFailedAfterTheAcksLeavesTheirResults) {
  const AckAndLeasePtr next = Make();
  EXPECT_TRUE(next->Acked(Acked()));
  next->Leased(absl::UnavailableError("draining"));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_EQ((*answer_)->results.size(), 2u);
  EXPECT_FALSE((*answer_)->lease.has_value());
}

TEST_F(AckAndLeaseOperationTest, AcksThatFailedFailTheCallAndHandItsLeasesBack) {
  const AckAndLeasePtr next = Make();
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Acked(absl::UnavailableError("gone")));
  ASSERT_TRUE(answer_.has_value());
  EXPECT_FALSE(answer_->ok());
  next->Leased(Tasks(4));
  EXPECT_EQ(handed_back_, 4u);
}

TEST_F(AckAndLeaseOperationTest, LateLeasesOfARepeatableCallWaitForItsRepeat) {
  LeaseCall call;
  call.request_id = "r";
  const AckAndLeasePtr next = Make(call);
  ASSERT_TRUE(next->TryReserve());
  EXPECT_FALSE(next->Acked(absl::UnavailableError("gone")));
  next->Leased(Tasks(4));
  EXPECT_EQ(handed_back_, 0u);
}

TEST_F(AckAndLeaseOperationTest, ACancelledCallIsAckedAndLeasesNothing) {
  const AckAndLeasePtr next = Make();
  next->Cancel();
  EXPECT_FALSE(next->TryReserve());
  EXPECT_FALSE(next->Acked(Acked()));
  ASSERT_TRUE(answer_.has_value() && answer_->ok());
  EXPECT_FALSE((*answer_)->lease.has_value());
}

TEST_F(AckAndLeaseOperationTest, ItsWaitShrinksWhileTheAcksTake) {
  LeaseCall call;
  call.wait = absl::Nanoseconds(1);
  EXPECT_EQ(Make(call)->Call().wait, absl::Milliseconds(1));
  EXPECT_EQ(Make()->Call().wait, absl::ZeroDuration());
}

}  // namespace
}  // namespace skiplane::broker
