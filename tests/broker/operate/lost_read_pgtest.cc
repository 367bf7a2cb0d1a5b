// Changes of operators that are committed, or are not, whatever becomes of the calls around them:
// nobody is told that nothing was changed where something was, nor keeps what was rolled back.
#include <chrono>
#include <thread>

#include "gmock/gmock.h"
#include "server/broker/api/request_hash.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using Operation = model::BulkOperation;

class LostReadTest : public BrokerHarness {
 protected:
  std::unique_ptr<broker::LocalBroker> BrokerThatWaitsForLocks(absl::Duration most) {
    broker::BrokerOptions options;
    options.connect.uri = database_.uri();
    options.connect.lock_timeout = most;
    options.connect.statement_timeout = absl::Minutes(1);
    options.id = model::NewSessionId();
    options.name = "patient";
    return std::make_unique<broker::LocalBroker>(options, metrics_, [](bool) {});
  }
  std::unique_ptr<pg::Session> Holding(const std::string& lock) const {
    auto session = Required(pg::Session::Open({.uri = database_.uri()}, nullptr));
    Required(session->RunText("SET idle_in_transaction_session_timeout = 0"));
    Required(session->RunText("BEGIN; LOCK TABLE " + lock));
    return session;
  }
  static broker::StartBulkCall Call(const std::string& request_id) {
    broker::StartBulkCall call;
    call.filter.queue = "q";
    call.filter.states.ready = true;
    call.change.kind = model::TaskChange::Kind::kPostpone;
    call.change.postpone = absl::Hours(1);
    call.origin = Origin();
    if (!request_id.empty()) call.origin.request = broker::HashChange("", request_id, "Test", "");
    return call;
  }
  static absl::StatusOr<Operation> Start(broker::Broker& at, broker::StartBulkCall call) {
    Later<Operation> later;
    at.AsOperator().StartBulk(std::move(call), later.done());
    return later.Get();
  }

  // What a call is answered whose operation is begun when its broker takes no more jobs.
  absl::StatusOr<Operation> StartAtAnEndingBroker(broker::StartBulkCall call) {
    const auto ending = BrokerThatWaitsForLocks(absl::Minutes(1));
    const auto holder = Holding("skiplane.bulk_operation IN SHARE MODE");
    Later<Operation> answer;
    ending->AsOperator().StartBulk(std::move(call), answer.done());
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const std::string waiting =
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database())";
    while (Number(waiting) == 0) Require(std::chrono::steady_clock::now() < give_up, "no call");
    std::thread stop([&] { ending->Stop(); });
    // The read would follow in the same turn, on the connection that the call has.
    const auto turn_ends = std::chrono::steady_clock::now() + broker::kTurn;
    bool is_ending = false;
    while (!is_ending || std::chrono::steady_clock::now() < turn_ends) {
      Require(std::chrono::steady_clock::now() < give_up, "it does not end");
      Later<Operation> other;
      ending->AsOperator().GetBulk({model::SessionId(), absl::ZeroDuration(), {}, "other"},
                                      other.done());
      is_ending = base::ReasonOf(other.Get().status()) == "BROKER_DRAINING";
    }
    Required(holder->RunText("COMMIT"));
    stop.join();
    return answer.Get();
  }
  int64_t Operations() const { return Number("SELECT count(*) FROM skiplane.bulk_operation"); }
};

// An operation once made the queue that it named, also one that was refused: the cache kept what
// was rolled back, and others' tasks went to a lane that nobody knew.
TEST_F(LostReadTest, AnOperationMakesNoQueue) {
  for (const bool dry_run : {false, true}) {
    broker::StartBulkCall call = Call("");
    call.filter.stage = "nosuch";
    call.dry_run = dry_run;
    EXPECT_THAT(Start(broker(), std::move(call)), ReasonIs("QUEUE_NOT_FOUND"));
  }
  Enqueue({Payload("x")});
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task JOIN skiplane.queue_lane USING (lane)"), 1);
  EXPECT_EQ(Operations(), 0);
}

TEST_F(LostReadTest, AnOperationThatWasBegunIsNeverSaidToBeUndone) {
  Enqueue({Payload("x")});
  EXPECT_THAT(StartAtAnEndingBroker(Call("")), ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  EXPECT_EQ(Operations(), 1);
}

TEST_F(LostReadTest, AnOperationThatWasBegunIsFoundByItsRequestId) {
  Enqueue({Payload("x")});
  EXPECT_THAT(StartAtAnEndingBroker(Call("r")), ReasonIs("DATABASE_UNAVAILABLE"));
  EXPECT_THAT(Start(broker(), Call("r")), IsOk());
  EXPECT_EQ(Operations(), 1);
}

TEST_F(LostReadTest, ADryRunMayBeAskedForElsewhere) {
  Enqueue({Payload("x")});
  broker::StartBulkCall call = Call("");
  call.dry_run = true;
  EXPECT_THAT(StartAtAnEndingBroker(std::move(call)), ReasonIs("BROKER_DRAINING"));
}

TEST_F(LostReadTest, ACallThatIsRefusedForOthersThatRunIsBegunLaterAndThenKnown) {
  Enqueue({Payload("x")});
  const std::string others =
      "INSERT INTO skiplane.bulk_operation "
      "(id, queue_id, request, dry_run, lanes, actor, update_time) "
      "SELECT gen_random_uuid(), q.id, '{\"filter\": {}, \"change\": {\"kind\": 1}}', false, "
      "'{1}', 'ann', now() + interval '1 hour' FROM skiplane.queue q, generate_series(1, ";
  Sql(others + "100)");
  const auto refused = Start(broker(), Call("r"));
  EXPECT_THAT(refused, ReasonIs("TOO_MANY_BULK_OPERATIONS"));
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status()));
  EXPECT_EQ(base::RetryDelayOf(refused.status()), absl::Seconds(1));
  Sql("UPDATE skiplane.bulk_operation SET state = 3");
  const auto begun = Start(broker(), Call("r"));
  ASSERT_THAT(begun, IsOk());
  Sql(others + "100)");
  const auto known = Start(broker(), Call("r"));
  ASSERT_THAT(known, IsOk());
  EXPECT_EQ(known->id, begun->id);
}

// It was once told that nothing was changed.
TEST_F(LostReadTest, APauseThatCannotBeReadWasMade) {
  Enqueue({Payload("x")});
  const auto hasty = BrokerThatWaitsForLocks(absl::Milliseconds(100));
  const auto holder = Holding("skiplane.queue_lane IN ACCESS EXCLUSIVE MODE");
  broker::PauseQueueCall call;
  call.name = "q";
  call.origin = Origin();
  Later<model::Queue> later;
  hasty->PauseQueue(std::move(call), later.done());
  const auto answer = later.Get();
  EXPECT_THAT(answer, ReasonIs("DATABASE_UNAVAILABLE"));
  EXPECT_THAT(std::string(answer.status().message()),
              ::testing::Not(::testing::HasSubstr("nothing was changed")));
  EXPECT_EQ(Number("SELECT pause_mode FROM skiplane.queue"), 1);
}

}  // namespace
}  // namespace skiplane::testing
