#include "server/pg/connections/listener.h"

#include "gmock/gmock.h"
#include "server/metrics/metrics.h"
#include "tests/pg/connections/heard.h"
#include "tests/pg/session_harness.h"

namespace skiplane::pg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Heard;

constexpr char kChannel[] = "skiplane_Test";

class ListenerTest : public testing::SessionHarness {
 protected:
  Listener Listen() { return Listen(Options()); }
  Listener Listen(const ConnectOptions& options) {
    return Listener(
        options, kChannel, [this](absl::string_view payload) { heard_.Add(std::string(payload)); },
        [this](bool listening) { states_.Add(listening); }, &metrics_);
  }

  void Notify(const std::string& payload) const {
    database_.Run(absl::StrCat("SELECT pg_notify('", kChannel, "', '", payload, "')"));
  }

  void TerminateListeners() const {
    database_.Run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                  "WHERE query LIKE 'LISTEN%' AND datname = current_database()");
  }

  metrics::Metrics metrics_{"1.2.3", "abc"};
  Heard<std::string> heard_;
  Heard<bool> states_;
};

TEST_F(ListenerTest, NotificationsAreHeardInOrder) {
  Listener listener = Listen();
  ASSERT_TRUE(states_.WaitFor(true));
  Notify("one");
  Notify("two");
  database_.Run("NOTIFY other_channel, 'not ours'");
  Notify("");
  ASSERT_TRUE(heard_.WaitForCount(3));
  EXPECT_THAT(heard_.values(), ElementsAre("one", "two", ""));
}

TEST_F(ListenerTest, ALostBackendIsToldAndReplaced) {
  Listener listener = Listen();
  ASSERT_TRUE(states_.WaitForCount(1));
  for (size_t round = 1; round <= 5; ++round) {
    TerminateListeners();
    ASSERT_TRUE(states_.WaitForCount(2 * round + 1));
    const std::string payload = absl::StrCat("round ", round);
    Notify(payload);
    ASSERT_TRUE(heard_.WaitFor(payload));
  }
  EXPECT_THAT(states_.values(), ElementsAre(true, false, true, false, true, false, true, false,
                                            true, false, true));
}

TEST_F(ListenerTest, ABackendThatDoesNotAnswerIsToldCountedAndReplaced) {
  ConnectOptions options = Options();
  options.tcp_user_timeout = absl::Seconds(1);
  Listener listener = Listen(options);
  ASSERT_TRUE(states_.WaitForCount(1));
  const testing::Frozen frozen(std::stoi(
      database_.Run("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' "
                    "AND datname = current_database()")));
  ASSERT_TRUE(states_.WaitForCount(3));
  Notify("heard again");
  EXPECT_TRUE(heard_.WaitFor("heard again"));
  EXPECT_THAT(states_.values(), ElementsAre(true, false, true));
  EXPECT_THAT(metrics_.Text(), HasSubstr("skiplane_db_errors_total{sqlstate_class=\"08\"} 1\n"));
}

TEST_F(ListenerTest, ARestartOfTheServerIsSurvived) {
  testing::Cluster cluster;
  Listener listener = Listen({.uri = cluster.uri("postgres")});
  ASSERT_TRUE(states_.WaitFor(true));
  cluster.Stop();
  ASSERT_TRUE(states_.WaitFor(false));
  cluster.Start();
  ASSERT_TRUE(states_.WaitForCount(3));
  testing::RunSql(cluster.uri("postgres"), absl::StrCat("NOTIFY \"", kChannel, "\", 'back'"));
  EXPECT_TRUE(heard_.WaitFor("back"));
}

TEST_F(ListenerTest, WithoutAServerNothingIsToldAndItStops) {
  Listener listener = Listen({.uri = "host=/nonexistent"});
  listener.Stop();
  EXPECT_THAT(states_.values(), IsEmpty());
}

TEST_F(ListenerTest, StopEndsTheConnectionAndTheCallbacks) {
  Listener listener = Listen();
  ASSERT_TRUE(states_.WaitFor(true));
  listener.Stop();
  listener.Stop();
  Notify("too late");
  EXPECT_THAT(heard_.values(), IsEmpty());
  EXPECT_THAT(states_.values(), ElementsAre(true));
}

// Its last statement once waited for ever.
TEST_F(ListenerTest, StopWaitsForNoBackendThatDoesNotAnswer) {
  Listener listener = Listen();
  ASSERT_TRUE(states_.WaitFor(true));
  const testing::Frozen frozen(std::stoi(
      database_.Run("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' "
                    "AND datname = current_database()")));
  listener.Stop();
}

}  // namespace
}  // namespace skiplane::pg
