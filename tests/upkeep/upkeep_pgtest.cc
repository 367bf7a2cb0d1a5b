#include "server/upkeep/upkeep.h"

#include "gmock/gmock.h"
#include "server/pg/connections/listener.h"
#include "server/store/peers.h"
#include "tests/pg/connections/heard.h"
#include "tests/support/require.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using testing::Required;

class UpkeepTest : public testing::UpkeepHarness {
 protected:
  UpkeepOptions OptionsOf(uint8_t broker) const {
    return {.connect = Options(), .broker_id = testing::UuidOf(broker), .broker_name = "test"};
  }

  // A worker leases a task for a second and sends no heartbeat; returns whether brokers hear in
  // time that the task is ready again.
  bool IsRescued(const std::string& name) {
    testing::Heard<std::string> notifications;
    testing::Heard<bool> states;
    pg::Listener listener(
        Options(), store::kNotificationChannel,
        [&](absl::string_view payload) { notifications.Add(std::string(payload)); },
        [&](bool listening) { states.Add(listening); });
    EXPECT_TRUE(states.WaitFor(true));
    PutOne();
    const store::Touch touch{name, name, model::NewSessionId(), absl::Seconds(1),
                             absl::ZeroDuration()};
    TakeOne(Required(store::TouchSessions(*session_, {touch})).front().id);
    return notifications.WaitForCount(1);
  }

  // Ends every connection to the database, except those that are made meanwhile.
  void BreakConnections() {
    Sql("SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()");
    session_ = Open();
  }
};

TEST_F(UpkeepTest, TheTaskOfASilentWorkerIsRescued) {
  Upkeep upkeep(OptionsOf(201), &metrics_);
  upkeep.Start();
  upkeep.Start();
  EXPECT_TRUE(IsRescued("silent"));
  upkeep.Stop();
  upkeep.Stop();
  EXPECT_EQ(Tasks("state = 1 AND attempt = 1"), 1);
}

// Each chore that took more than two seconds once gave every session a grace: one that did so
// every half a minute kept all dead workers alive.
TEST_F(UpkeepTest, AChoreThatTakesLongIsNoOutage) {
  UpkeepOptions options = OptionsOf(201);
  options.connect.lock_timeout = options.connect.statement_timeout = absl::Minutes(1);
  const auto holder = Open();
  Required(holder->RunText("SET idle_in_transaction_session_timeout = 0; BEGIN; "
                           "LOCK TABLE skiplane.counter_delta"));
  Upkeep upkeep(options, &metrics_);
  upkeep.Start();
  const std::string waits = "SELECT count(*) FROM pg_locks WHERE NOT granted";
  const std::string mark = "SELECT reclaim_time FROM skiplane.upkeep_lead";
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const auto wait_until = [&](const auto& is_so) {
    while (!is_so()) {
      testing::Require(std::chrono::steady_clock::now() < give_up, "it did not come in a minute");
    }
  };
  wait_until([&] { return Number(waits) > 0; });
  for (int marks = 0; marks < 3; ++marks) {
    const std::string before = Sql(mark);
    wait_until([&] { return Sql(mark) != before; });
  }
  Required(holder->RunText("COMMIT"));
  EXPECT_TRUE(IsRescued("silent"));
}

TEST_F(UpkeepTest, GoesOnAfterItsConnectionBroke) {
  Upkeep upkeep(OptionsOf(201), &metrics_);
  upkeep.Start();
  ASSERT_TRUE(IsRescued("first"));
  BreakConnections();
  EXPECT_TRUE(IsRescued("second"));
}

TEST_F(UpkeepTest, AnotherLeadsAtOnceWhenItStops) {
  Upkeep upkeep(OptionsOf(201), &metrics_);
  upkeep.Start();
  ASSERT_TRUE(IsRescued("silent"));
  upkeep.Stop();
  EXPECT_TRUE(
      Required(store::TakeLead(*session_, testing::UuidOf(202), absl::Seconds(5))).is_leader);
}

TEST_F(UpkeepTest, StopsAlsoWithoutADatabase) {
  UpkeepOptions options = OptionsOf(201);
  options.connect.uri = "postgresql:///none?host=/nonexistent";
  Upkeep upkeep(options, &metrics_);
  upkeep.Start();
  upkeep.Stop();
}

}  // namespace
}  // namespace skiplane::upkeep
