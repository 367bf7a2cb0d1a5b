// A large queue takes no connection that others would have to wait for.
#include <memory>
#include <string>
#include <vector>

#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

class LeaseSpareTest : public BrokerHarness {
 protected:
  // Its statements wait for a lock for as long as a test lasts.
  LeaseSpareTest() {
    broker::BrokerOptions options;
    options.connect.uri = database_.broker_uri();
    options.connect.statement_timeout = options.connect.lock_timeout = absl::Minutes(5);
    options.connections = 2;
    options.create_missing_queues = true;
    options.id = model::NewSessionId();
    broker_.reset();
    broker_ = std::make_unique<broker::LocalBroker>(options, metrics_, [](bool) {});
  }
};

TEST_F(LeaseSpareTest, OneStatementOfALargeQueueLeavesTheOtherConnectionToOthers) {
  Enqueue(std::vector<model::NewTask>(300, Payload("x")));
  LeaseOne("w");
  const auto lock = Lock("skiplane.lease_ledger IN EXCLUSIVE MODE");
  Later<broker::LeaseAnswer> answers[2];
  std::vector<std::shared_ptr<broker::PendingLease>> pending;
  for (auto& answer : answers) {
    pending.push_back(broker().Lease(LeaseOf("w", 10, absl::Minutes(2)), answer.done()));
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (Number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                  " AND wait_event_type = 'Lock'") == 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    }
  }
  EXPECT_EQ(Enqueue({Payload("beside them")}).size(), 1u);
  Required(lock->RunText("COMMIT"));
  for (auto& answer : answers) EXPECT_THAT(answer.Get(), IsOk());
}

}  // namespace
}  // namespace skiplane::testing
