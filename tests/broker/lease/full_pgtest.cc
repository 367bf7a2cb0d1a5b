// Callers that hold on to their answers: the broker leases no more than it may keep in memory.

#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::broker {
namespace {

using testing::Later;
using testing::LeaseOf;
using testing::Payload;
using testing::ReasonIs;
using testing::StatusIs;

constexpr int kTasks = 20;
constexpr int64_t kMiB = 1 << 20;

class FullTest : public testing::BrokerHarness {
 protected:
  FullTest() {
    for (int i = 0; i < kTasks; ++i) Enqueue({Payload(std::string(kMiB, 'x'))});
    while (unread_.size() * kMiB < model::kAnswerBytesMax) unread_.push_back(Lease(LeaseOf("w")));
  }

  int64_t Leased() const { return Number("SELECT count(*) FROM skiplane.task WHERE state = 2"); }

  std::vector<LeaseAnswer> unread_;
};

TEST_F(FullTest, WhoDoesNotWaitIsRefusedUntilOthersHaveRead) {
  Later<LeaseAnswer> refused;
  broker().Lease(LeaseOf("w"), refused.done());
  const absl::StatusOr<LeaseAnswer> refusal = refused.Get();
  EXPECT_THAT(refusal.status(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(refusal.status(), ReasonIs("TOO_MANY_CALLS"));
  EXPECT_EQ(Leased(), 16);
  unread_.pop_back();
  EXPECT_EQ(Lease(LeaseOf("w")).tasks.size(), 1u);
}

TEST_F(FullTest, WhoAsksForAnEarlierAnswerIsRefusedToo) {
  LeaseCall call = LeaseOf("w", 1, absl::Seconds(60));
  call.request_id = "r";
  Later<LeaseAnswer> refused;
  broker().Lease(std::move(call), refused.done());
  EXPECT_THAT(refused.Get().status(), ReasonIs("TOO_MANY_CALLS"));
}

TEST_F(FullTest, WhoWaitsIsServedWhenOthersHaveRead) {
  Later<LeaseAnswer> parked;
  broker().Lease(LeaseOf("w", 1, absl::Seconds(60)), parked.done());
  EXPECT_FALSE(parked.is_there());
  EXPECT_EQ(Leased(), 16);
  unread_.pop_back();
  EXPECT_EQ(testing::Required(parked.Get()).tasks.size(), 1u);
  EXPECT_EQ(Leased(), 17);
}

TEST_F(FullTest, WhoWaitsInVainIsAnsweredWithoutTasks) {
  Later<LeaseAnswer> parked;
  broker().Lease(LeaseOf("w", 1, absl::Milliseconds(50)), parked.done());
  EXPECT_EQ(testing::Required(parked.Get()).tasks.size(), 0u);
  EXPECT_EQ(Leased(), 16);
}

}  // namespace
}  // namespace skiplane::broker
