// Workers that say what they hold: what they do not know of is handed back.
#include "server/broker/sessions/session_opener.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

constexpr std::chrono::milliseconds kDelay(1);

class SessionOpenerTest : public BrokerHarness {
 protected:
  ~SessionOpenerTest() override {
    timer_.Stop();
    pool_.Stop();
  }

  // A worker comes and names these leases. Leases that it does not know of are handed to
  // `on_unknown`; it is looked again after kDelay.
  broker::OpenSessionAnswer Open(std::vector<model::LeaseToken> leases,
                                 broker::SessionOpener::OnUnknown on_unknown) {
    opener_ = std::make_unique<broker::SessionOpener>(
        context_, sessions_, std::move(on_unknown),
        broker::SessionOpener::Looks{kDelay});
    broker::OpenSessionCall call{LeaseOf("w"), std::move(leases)};
    call.lease.lease_duration = absl::Minutes(1);
    Later<broker::OpenSessionAnswer> opened;
    opener_->Open(std::move(call), opened.done());
    return Required(opened.Get());
  }

  model::SettleResult Release(const model::LeaseToken& token) {
    model::NackItem release;
    release.token = token;
    release.disposition = model::NackDisposition::kRelease;
    return Nack(std::move(release));
  }

  // Takes as long as a look, after which another one would come.
  void PassTheTimeOfALook() {
    const auto passed = std::make_shared<std::promise<void>>();
    timer_.After(kDelay, [this, passed] {
      pool_.Submit([passed](const absl::StatusOr<pg::Session*>&) { passed->set_value(); });
    });
    passed->get_future().wait();
  }

  base::Timer timer_;
  pg::Pool pool_{{.uri = database_.broker_uri()}, 1, &metrics_, [](bool) {}};
  broker::PoolTurns turns_{pool_, 1};
  broker::Context context_{pool_, turns_, timer_, metrics_, "origin"};
  broker::SessionCache sessions_{10};
  std::unique_ptr<broker::SessionOpener> opener_;
  std::atomic<int> times_ = 0;  // that something was handed back
  std::promise<void> third_;
};

TEST_F(SessionOpenerTest, WhatTheWorkerHoldsAndNamesStaysItsOwn) {
  Enqueue({Payload("a")});
  const model::LeaseToken held = LeaseOne("w").token;
  model::LeaseToken lost = held;
  ++lost.lease_number;
  const auto answer = Open({held, lost}, [](const auto&) { FAIL() << "it is known"; });
  EXPECT_EQ(answer.session, held.session);
  EXPECT_THAT(answer.states, ElementsAre(model::LeaseState::kHeld, model::LeaseState::kLost));
  EXPECT_EQ(Ack(held), model::SettleOutcome::kSettled);
}

// A release that the database refused left the task with a worker that did not know of it.
TEST_F(SessionOpenerTest, ALeaseThatTheWorkerDoesNotKnowIsHandedBackUntilItIsFree) {
  Enqueue({Payload("a")});
  const model::LeaseToken unknown = LeaseOne("w").token;
  Open({}, [this, task = unknown.task](const std::vector<model::LeaseToken>& leases) {
    EXPECT_THAT(leases, ElementsAre(Field(&model::LeaseToken::task, task)));
    if (++times_ == 3) third_.set_value();
  });
  ASSERT_EQ(third_.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  Release(unknown);
  EXPECT_EQ(LeaseOne("other").token.attempt, 1);
  PassTheTimeOfALook();
  PassTheTimeOfALook();
  const int64_t looks = RunsOf("ledger_lanes");
  for (int i = 0; i < 20; ++i) PassTheTimeOfALook();
  EXPECT_EQ(RunsOf("ledger_lanes"), looks);
}

}  // namespace
}  // namespace skiplane::testing
