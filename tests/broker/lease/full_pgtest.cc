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
constexpr size_t kPart = 12;  // MiB: 75 % of 16
constexpr int64_t kMiB = 1 << 20;

LeaseCall LeaseBy(const std::string& party, absl::Duration wait = absl::ZeroDuration()) {
  LeaseCall call = LeaseOf("w", 1, wait);
  call.party = party;
  return call;
}

class FullTest : public testing::BrokerHarness {
 protected:
  FullTest() {
    for (int i = 0; i < kTasks; ++i) Enqueue({Payload(std::string(kMiB, 'x'))});
    // The part of one, and what is left.
    while (unread_.size() < kPart) unread_.push_back(Lease(LeaseBy("greedy")));
  }

  void FillTheRest() {
    while (unread_.size() * kMiB < model::kAnswerBytesMax) unread_.push_back(Lease(LeaseOf("w")));
  }

  absl::Status RefusalOf(LeaseCall call) {
    Later<LeaseAnswer> refused;
    broker().Lease(std::move(call), refused.done());
    return refused.Get().status();
  }

  int64_t Leased() const { return Number("SELECT count(*) FROM skiplane.task WHERE state = 2"); }

  std::vector<LeaseAnswer> unread_;
};

TEST_F(FullTest, WhoDoesNotWaitIsRefusedUntilOthersHaveRead) {
  FillTheRest();
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
  FillTheRest();
  LeaseCall call = LeaseOf("w", 1, absl::Seconds(60));
  call.request_id = "r";
  Later<LeaseAnswer> refused;
  broker().Lease(std::move(call), refused.done());
  EXPECT_THAT(refused.Get().status(), ReasonIs("TOO_MANY_CALLS"));
}

TEST_F(FullTest, WhoWaitsIsServedWhenOthersHaveRead) {
  FillTheRest();
  Later<LeaseAnswer> parked;
  broker().Lease(LeaseOf("w", 1, absl::Seconds(60)), parked.done());
  EXPECT_FALSE(parked.is_there());
  EXPECT_EQ(Leased(), 16);
  unread_.pop_back();
  EXPECT_EQ(testing::Required(parked.Get()).tasks.size(), 1u);
  EXPECT_EQ(Leased(), 17);
}

TEST_F(FullTest, WhoWaitsInVainIsAnsweredWithoutTasks) {
  FillTheRest();
  Later<LeaseAnswer> parked;
  broker().Lease(LeaseOf("w", 1, absl::Milliseconds(50)), parked.done());
  EXPECT_EQ(testing::Required(parked.Get()).tasks.size(), 0u);
  EXPECT_EQ(Leased(), 16);
}

TEST_F(FullTest, OneThatDoesNotReadKeepsNobodyElseFromLeasing) {
  Later<LeaseAnswer> parked;
  broker().Lease(LeaseBy("greedy", absl::Seconds(60)), parked.done());
  EXPECT_THAT(RefusalOf(LeaseBy("greedy")), ReasonIs("TOO_MANY_CALLS"));
  EXPECT_EQ(Lease(LeaseBy("other")).tasks.size(), 1u);
  EXPECT_EQ(Lease(LeaseBy("other", absl::Seconds(60))).tasks.size(), 1u);
  EXPECT_FALSE(parked.is_there());
  unread_.pop_back();
  EXPECT_EQ(testing::Required(parked.Get()).tasks.size(), 1u);
}

}  // namespace
}  // namespace skiplane::broker
