// Sessions of workers that never were made upkeep too slow to find those that are lost: each of a
// principal's could last for twelve hours.
#include <memory>
#include <string>
#include <utility>

#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

class WorkersOfPartyTest : public BrokerHarness {
 protected:
  WorkersOfPartyTest() {
    broker::BrokerOptions options;
    options.connect.uri = database_.broker_uri();
    options.create_missing_queues = true;
    options.id = model::NewSessionId();
    options.workers_of_party_max = 2;
    broker_.reset();
    broker_ = std::make_unique<broker::LocalBroker>(options, metrics_, [](bool) {});
    Enqueue({Payload("a"), Payload("b"), Payload("c")});
  }

  absl::Status TryLease(const std::string& worker, const std::string& party = "party") {
    broker::LeaseCall call = LeaseOf(worker);
    call.party = party;
    Later<broker::LeaseAnswer> later;
    const auto pending = broker().Lease(std::move(call), later.done());
    return later.Get().status();
  }
  absl::Status Open(const std::string& worker) {
    broker::OpenSessionCall call{LeaseOf(worker), {}};
    call.lease.party = "party";
    Later<broker::OpenSessionAnswer> later;
    broker().OpenSession(std::move(call), later.done());
    return later.Get().status();
  }
  absl::Status End(const std::string& worker) { return Beat(worker, absl::ZeroDuration(), true); }
  absl::Status Beat(const std::string& worker, absl::Duration duration, bool ends = false) {
    broker::HeartbeatCall call;
    call.worker_id = worker;
    call.lease_duration = duration;
    call.end_session = ends;
    call.party = "party";
    Later<broker::HeartbeatAnswer> later;
    broker().Heartbeat(std::move(call), later.done());
    return later.Get().status();
  }
};

TEST_F(WorkersOfPartyTest, ThoseBeyondTheBoundAreRefusedHoweverTheyCome) {
  EXPECT_THAT(TryLease("one"), IsOk());
  EXPECT_THAT(Open("two"), IsOk());
  EXPECT_THAT(TryLease("three"), ReasonIs("TOO_MANY_WORKERS"));
  EXPECT_THAT(Open("three"), ReasonIs("TOO_MANY_WORKERS"));
  EXPECT_THAT(End("three"), ReasonIs("TOO_MANY_WORKERS"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.worker_session"), 2);
}

// A session that was made for a moment was moved twelve hours ahead by a heartbeat, uncounted.
TEST_F(WorkersOfPartyTest, AHeartbeatCountsAsMuchAsItMoves) {
  for (const char* worker : {"one", "two"}) {
    EXPECT_THAT(TryLease(worker), IsOk());
    EXPECT_THAT(Beat(worker, absl::Hours(12)), IsOk());
  }
  EXPECT_THAT(Beat("three", absl::Hours(12)), ReasonIs("TOO_MANY_WORKERS"));
  EXPECT_THAT(Beat("three", absl::ZeroDuration()), IsOk()) << "of a session made elsewhere";
  EXPECT_THAT(TryLease("three"), ReasonIs("TOO_MANY_WORKERS"));
}

TEST_F(WorkersOfPartyTest, OthersAndKnownOnesGoOn) {
  EXPECT_THAT(TryLease("one"), IsOk());
  EXPECT_THAT(TryLease("two"), IsOk());
  EXPECT_THAT(TryLease("one"), IsOk());
  EXPECT_THAT(Open("two"), IsOk());
  EXPECT_THAT(TryLease(""), IsOk()) << "without a worker";
  EXPECT_THAT(TryLease("three", "another party"), IsOk());
  EXPECT_THAT(End("one"), IsOk());
}

TEST_F(WorkersOfPartyTest, ARefusedNextLeaseSettlesNothing) {
  const model::LeasedTask held = LeaseOne("of nobody");
  EXPECT_THAT(TryLease("one"), IsOk());
  EXPECT_THAT(TryLease("two"), IsOk());
  broker::SettleAndLeaseCall call{{model::AckItem{held.token, nullptr, {}}}, LeaseOf("three")};
  call.lease.party = "party";
  Later<broker::SettleAndLeaseAnswer> later;
  const auto pending = broker().SettleAndLease(std::move(call), later.done());
  EXPECT_THAT(later.Get().status(), ReasonIs("TOO_MANY_WORKERS"));
  EXPECT_EQ(Ack(held.token), model::SettleOutcome::kSettled);
}

}  // namespace
}  // namespace skiplane::testing
