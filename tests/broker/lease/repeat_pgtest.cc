// Leases that are repeated under one request id: what the worker still holds comes again, and when
// it holds nothing, the id leases anew at once.
#include <algorithm>

#include "gmock/gmock.h"
#include "server/store/reclaim.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using ::testing::SizeIs;

constexpr absl::Duration kLong = absl::Seconds(30);

std::vector<model::LeaseToken> TokensOf(const broker::LeaseAnswer& answer) {
  std::vector<model::LeaseToken> tokens;
  for (const model::LeasedTask& task : answer.tasks) tokens.push_back(task.token);
  return tokens;
}

class RepeatTest : public BrokerHarness {
 protected:
  void Fill(int tasks, const std::string& queue = "q") {
    Later<std::vector<broker::EnqueueResult>> done;
    const std::vector<model::NewTask> all(static_cast<size_t>(tasks), Payload("x"));
    broker().Enqueue({queue, all, ""}, done.done());
    ASSERT_THAT(done.Get(), IsOk());
  }

  void MakeQueue(const std::string& name, int lanes) {
    Later<model::Queue> made;
    broker::CreateQueueCall call;
    call.name = name;
    call.lane_count = lanes;
    call.origin = Origin();
    broker().CreateQueue(std::move(call), made.done());
    ASSERT_THAT(made.Get(), IsOk());
  }

  static broker::LeaseCall Call(int max_tasks = 3, absl::Duration wait = kLong) {
    broker::LeaseCall call = LeaseOf("w", max_tasks, wait);
    call.request_id = "r";
    return call;
  }

  absl::StatusOr<broker::LeaseAnswer> LeaseAt(broker::Broker& at, broker::LeaseCall call) {
    Later<broker::LeaseAnswer> later;
    const auto pending = at.Lease(std::move(call), later.done());
    return later.Get();
  }

  broker::SettleAndLeaseAnswer SettleAndLease(const std::vector<model::LeaseToken>& tokens,
                                        broker::LeaseCall lease) {
    broker::SettleAndLeaseCall call;
    for (const model::LeaseToken& token : tokens) {
      call.items.emplace_back(model::AckItem{token, nullptr});
    }
    call.lease = std::move(lease);
    Later<broker::SettleAndLeaseAnswer> later;
    const auto pending = broker().SettleAndLease(std::move(call), later.done());
    auto answer = later.Get();
    EXPECT_THAT(answer, IsOk());
    return answer.ok() ? *std::move(answer) : broker::SettleAndLeaseAnswer();
  }

  void AckAll(const std::vector<model::LeaseToken>& tokens) {
    ASSERT_THAT(AckTokens(broker(), tokens), IsOk());
  }

  int64_t Held() const { return Number("SELECT count(*) FROM skiplane.task WHERE state = 2"); }
  void Fold() const {
    Sql("UPDATE skiplane.lease_ledger SET check_time = now() - interval '1 s'");
    auto session = pg::Session::Open({.uri = database_.uri()}, nullptr);
    ASSERT_THAT(session, IsOk());
    const int64_t lane = Number("SELECT min(lane) FROM skiplane.queue_lane");
    ASSERT_THAT(store::FoldLedger(**session, lane, 100), IsOk());
  }
};

TEST_F(RepeatTest, ASettledRequestIdLeasesAnewAtOnce) {
  Fill(100);
  for (int i = 0; i < 12; ++i) {
    const broker::LeaseAnswer answer = Lease(Call());
    ASSERT_THAT(answer.tasks, SizeIs(3)) << "round " << i;
    AckAll(TokensOf(answer));
  }
  EXPECT_EQ(Held(), 0);
}

TEST_F(RepeatTest, SoItDoesAtAnotherBroker) {
  Fill(10);
  const auto other = NewBroker();
  for (int i = 0; i < 3; ++i) {
    broker::Broker& at = i % 2 == 0 ? static_cast<broker::Broker&>(*other) : broker();
    const auto answer = LeaseAt(at, Call());
    ASSERT_THAT(answer, IsOk());
    ASSERT_THAT(answer->tasks, SizeIs(3));
    AckAll(TokensOf(*answer));
  }
}

TEST_F(RepeatTest, ANackOrAReleaseSettlesToo) {
  Fill(10);
  for (const auto disposition :
       {model::NackDisposition::kRetry, model::NackDisposition::kFail,
        model::NackDisposition::kRelease}) {
    const broker::LeaseAnswer answer = Lease(Call(1));
    ASSERT_THAT(answer.tasks, SizeIs(1));
    model::NackItem item;
    item.token = answer.tasks[0].token;
    item.disposition = disposition;
    EXPECT_EQ(Nack(item).outcome, model::SettleOutcome::kSettled);
  }
  EXPECT_THAT(Lease(Call(1)).tasks, SizeIs(1));
}

TEST_F(RepeatTest, WhatIsLeftOfItComesAgain) {
  Fill(10);
  const std::vector<model::LeaseToken> first = TokensOf(Lease(Call()));
  ASSERT_THAT(first, SizeIs(3));
  AckAll({first[0], first[2]});
  EXPECT_EQ(TokensOf(Lease(Call())), std::vector{first[1]});
  AckAll({first[1]});
  EXPECT_THAT(Lease(Call()).tasks, SizeIs(3));
  EXPECT_EQ(Held(), 3);
}

TEST_F(RepeatTest, AFoldedRowIsNoObstacle) {
  Fill(10);
  const broker::LeaseAnswer first = Lease(Call());
  Fold();
  EXPECT_EQ(TokensOf(Lease(Call())), TokensOf(first));
  AckAll(TokensOf(first));
  EXPECT_THAT(Lease(Call()).tasks, SizeIs(3));
}

// Without tasks it waits as any call, and is woken.
TEST_F(RepeatTest, ASettledRequestIdWaitsForTasks) {
  Fill(1);
  AckAll(TokensOf(Lease(Call())));
  Later<broker::LeaseAnswer> later;
  const auto pending = broker().Lease(Call(), later.done());
  Fill(1);
  const auto answer = later.Get();
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(answer->tasks, SizeIs(1));
}

// Each round the same id is asked for at both brokers at once, and the tasks come at last: whoever
// leases, both are told of the same tasks.
TEST_F(RepeatTest, TwoBrokersAtOnceLeaseOneSetOfTasks) {
  Fill(1);
  const auto other = NewBroker();
  AckAll(TokensOf(Lease(Call())));
  for (int i = 0; i < 20; ++i) {
    Later<broker::LeaseAnswer> here;
    Later<broker::LeaseAnswer> there;
    const auto waits_here = broker().Lease(Call(), here.done());
    const auto waits_there = other->Lease(Call(), there.done());
    Fill(12);
    const auto one = here.Get();
    const auto two = there.Get();
    ASSERT_THAT(one, IsOk());
    ASSERT_THAT(two, IsOk());
    ASSERT_FALSE(one->tasks.empty());
    EXPECT_EQ(Held(), static_cast<int64_t>(one->tasks.size())) << "round " << i;
    EXPECT_EQ(TokensOf(*one), TokensOf(*two));
    AckAll(TokensOf(*one));
    Sql("DELETE FROM skiplane.task");
  }
}

// A call that shares its statement with one whose id is taken is served all the same.
TEST_F(RepeatTest, ANeighbourOfATakenIdIsServed) {
  Fill(1);
  const auto other = NewBroker();
  AckAll(TokensOf(Lease(Call())));
  for (int i = 0; i < 10; ++i) {
    Later<broker::LeaseAnswer> here, there, neighbour;
    const auto waits_here = broker().Lease(Call(1), here.done());
    const auto waits_there = other->Lease(Call(1), there.done());
    const auto waits = broker().Lease(LeaseOf("neighbour", 1, kLong), neighbour.done());
    Fill(3);
    for (auto* later : {&here, &there, &neighbour}) {
      const auto answer = later->Get();
      ASSERT_THAT(answer, IsOk());
      ASSERT_THAT(answer->tasks, SizeIs(1));
      AckAll(TokensOf(*answer));
    }
    Sql("DELETE FROM skiplane.task");
  }
}

TEST_F(RepeatTest, AnAckThatLeasesUnderTheSameIdGetsMore) {
  Fill(30);
  std::vector<model::LeaseToken> held = TokensOf(Lease(Call()));
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(held, SizeIs(3)) << "round " << i;
    const broker::SettleAndLeaseAnswer answer = SettleAndLease(held, Call());
    ASSERT_TRUE(answer.lease.has_value()) << "round " << i;
    held = TokensOf(*answer.lease);
  }
  EXPECT_EQ(Held(), 3);
}

TEST_F(RepeatTest, ARepeatedAckGetsTheLeaseOfTheFirst) {
  Fill(30);
  const std::vector<model::LeaseToken> first = TokensOf(Lease(LeaseOf("w", 3, kLong)));
  const broker::SettleAndLeaseAnswer answer = SettleAndLease(first, Call());
  ASSERT_TRUE(answer.lease.has_value());
  const broker::SettleAndLeaseAnswer again = SettleAndLease(first, Call());
  ASSERT_TRUE(again.lease.has_value());
  EXPECT_EQ(TokensOf(*again.lease), TokensOf(*answer.lease));
  EXPECT_EQ(Held(), 3);
}

// The lease of the first try was in another lane than its acks. The repeat once leased in the lane
// of the acks, without a look at the others.
TEST_F(RepeatTest, ARepeatedAckFindsTheLeaseOfTheFirstInAnotherQueue) {
  MakeQueue("a", 1);
  MakeQueue("b", 1);
  Fill(1, "a");
  Fill(5, "b");
  broker::LeaseCall call = LeaseOf("w", 1, kLong);
  call.queues = {{"a", 1, ""}};
  const std::vector<model::LeaseToken> first = TokensOf(Lease(call));
  broker::LeaseCall next = Call(1);
  next.queues = {{"a", 1, ""}, {"b", 1, ""}};
  next.strict_order = true;
  const broker::SettleAndLeaseAnswer answer = SettleAndLease(first, next);
  ASSERT_TRUE(answer.lease.has_value());
  ASSERT_THAT(answer.lease->tasks, SizeIs(1));
  ASSERT_EQ(answer.lease->tasks[0].queue, "b");
  Fill(3, "a");
  const broker::SettleAndLeaseAnswer again = SettleAndLease(first, next);
  ASSERT_TRUE(again.lease.has_value());
  EXPECT_EQ(TokensOf(*again.lease), TokensOf(*answer.lease));
  EXPECT_EQ(Held(), 1);
}

}  // namespace
}  // namespace skiplane::testing
