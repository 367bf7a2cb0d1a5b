// Queues are made up to a rate, however they are asked for.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/base/reason.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

class NewQueuesTest : public BrokerHarness {
 protected:
  NewQueuesTest() {
    broker::BrokerOptions options;
    options.connect.uri = database_.broker_uri();
    options.create_missing_queues = true;
    options.id = model::NewSessionId();
    options.new_queues = {.per_minute = 5, .principal_share = 50};
    broker_.reset();
    broker_ = std::make_unique<broker::LocalBroker>(options, metrics_, [](bool) {});
  }

  absl::Status Create(const std::string& principal, const std::string& name) {
    broker::CreateQueueCall call;
    call.principal = principal;
    call.name = name;
    call.origin = Origin();
    Later<model::Queue> later;
    broker().CreateQueue(std::move(call), later.done());
    return later.Get().status();
  }

  // `further`: a queue of one more task.
  absl::Status Put(const std::string& principal, const std::string& queue,
                   const std::string& further = "") {
    broker::EnqueueCall call;
    call.principal = principal;
    call.queue = queue;
    call.tasks.push_back(Payload("x"));
    call.has_several_queues = !further.empty();
    if (call.has_several_queues) {
      call.tasks.push_back(Payload("y"));
      call.tasks.back().queue = further;
    }
    Later<std::vector<broker::EnqueueResult>> later;
    broker().Enqueue(std::move(call), later.done());
    return later.Get().status();
  }

  static model::AckItem AckThen(const model::LeasedTask& task, const std::string& principal,
                                const std::string& queue) {
    auto further = std::make_shared<model::AckContinuation>();
    further->principal = principal;
    further->follow_ups.push_back(Payload("x"));
    further->follow_ups.back().queue = queue;
    return {task.token, further, {}};
  }

  absl::StatusOr<std::vector<model::SettleResult>> Settle(std::vector<model::SettleItem> items) {
    Later<std::vector<model::SettleResult>> later;
    broker().Settle(std::move(items), "", later.done());
    return later.Get();
  }

  absl::Status Ask(const std::string& principal, const std::string& queue) {
    broker::LeaseCall call = LeaseOf("w");
    call.principal = principal;
    call.queues[0].name = queue;
    Later<broker::LeaseAnswer> later;
    broker().Lease(std::move(call), later.done());
    return later.Get().status();
  }

  absl::Status AckAndAsk(const model::LeaseToken& token, const std::string& principal,
                         const std::string& queue) {
    broker::SettleAndLeaseCall call;
    call.items.emplace_back(model::AckItem{token, nullptr, {}});
    call.lease = LeaseOf("w");
    call.lease.principal = principal;
    call.lease.queues[0].name = queue;
    Later<broker::SettleAndLeaseAnswer> later;
    const auto pending = broker().SettleAndLease(std::move(call), later.done());
    return later.Get().status();
  }
};

TEST_F(NewQueuesTest, ThoseOfOnePrincipalAreBoundedAndOthersMakeTheirs) {
  Enqueue({Payload("x")});
  EXPECT_TRUE(Create("token:greedy", "a").ok());
  EXPECT_TRUE(Put("token:greedy", "b").ok());
  const model::LeaseToken held = LeaseOne("w").token;
  for (const absl::Status& refused :
       {Create("token:greedy", "c"), Put("token:greedy", "c"), Put("token:greedy", "a", "c"),
        Ask("token:greedy", "c"), AckAndAsk(held, "token:greedy", "c")}) {
    EXPECT_EQ(base::ReasonOf(refused), "TOO_MANY_NEW_QUEUES") << refused;
    EXPECT_GT(base::RetryDelayOf(refused).value_or(absl::ZeroDuration()), absl::ZeroDuration());
  }
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.queue WHERE name = 'c'"), 0);
  EXPECT_TRUE(Ask("token:other", "c").ok());
}

// Whoever comes second has made none.
TEST_F(NewQueuesTest, OneThatAnotherMadeMeanwhileCountsForNobody) {
  auto other = Required(pg::Session::Open({.uri = database_.uri()}, nullptr));
  Required(other->RunText(
      "BEGIN; INSERT INTO skiplane.queue (name, settings) VALUES ('b', '{}');"
      "INSERT INTO skiplane.queue_lane (queue_id, ordinal) SELECT id, 0 FROM skiplane.queue"));
  broker::EnqueueCall call;
  call.principal = "token:greedy";
  call.queue = "b";
  call.tasks.push_back(Payload("x"));
  Later<std::vector<broker::EnqueueResult>> later;
  broker().Enqueue(std::move(call), later.done());
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (Number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND wait_event_type = 'Lock'") == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  }
  Required(other->RunText("COMMIT"));
  EXPECT_THAT(later.Get().status(), IsOk());
  EXPECT_TRUE(Create("token:greedy", "c").ok());
  EXPECT_TRUE(Create("token:greedy", "d").ok());
  EXPECT_EQ(base::ReasonOf(Create("token:greedy", "e")), "TOO_MANY_NEW_QUEUES");
}

TEST_F(NewQueuesTest, ThoseOfFollowUpsCountForWhoAcksAndAreRefusedByThemselves) {
  Enqueue({Payload("x"), Payload("y")});
  broker::LeaseCall call = LeaseOf("w", 2);
  const std::vector<model::LeasedTask> leased = Lease(std::move(call)).tasks;
  ASSERT_EQ(leased.size(), 2U);
  EXPECT_TRUE(Create("token:greedy", "a").ok());
  EXPECT_TRUE(Create("token:greedy", "b").ok());
  const auto results = Settle({AckThen(leased[0], "token:greedy", "c"),
                               AckThen(leased[1], "token:other", "d")});
  ASSERT_THAT(results.status(), IsOk());
  EXPECT_EQ(results->at(0).outcome, model::SettleOutcome::kRefused);
  EXPECT_EQ(base::ReasonOf(results->at(0).refusal), "TOO_MANY_NEW_QUEUES");
  EXPECT_EQ(base::FieldOf(results->at(0).refusal), "follow_ups[0].queue");
  EXPECT_EQ(results->at(1).outcome, model::SettleOutcome::kSettled);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.queue WHERE name = 'c'"), 0);
}

TEST_F(NewQueuesTest, ThoseThatAreThereMayBeAskedForAgain) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Create("token:a", "a").ok());
  EXPECT_TRUE(Put("token:a", "b").ok());
  EXPECT_EQ(base::ReasonOf(Create("token:a", "c")), "TOO_MANY_NEW_QUEUES");
  EXPECT_TRUE(Create("token:a", "a").ok());
  EXPECT_TRUE(Put("token:a", "a").ok());
  EXPECT_TRUE(Ask("token:a", "b").ok());
}

}  // namespace
}  // namespace skiplane::testing
