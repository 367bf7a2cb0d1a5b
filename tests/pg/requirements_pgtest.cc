#include "server/pg/requirements.h"

#include <unistd.h>

#include <thread>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "server/base/reason.h"
#include "server/pg/abandoned_backends.h"
#include "tests/pg/session_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::pg {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::ReasonIs;
using testing::Require;

constexpr char kMissing[] = "SELECT FROM skiplane.missing";

// Of this test alone: the cluster is shared with others.
struct Role {
  Role(const testing::Database& at, absl::string_view kind, absl::string_view rights)
      : database(at), name(absl::StrCat("skiplane_", kind, "_", getpid())) {
    database.Run(absl::StrCat("CREATE ROLE ", name, " ", rights));
  }
  ~Role() { database.Run(absl::StrCat("DROP OWNED BY ", name, "; DROP ROLE ", name)); }
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;

  const testing::Database& database;
  const std::string name;
};

class RequirementsTest : public testing::SessionHarness {
 protected:
  ConnectOptions OptionsOf(const Role& role) const {
    return {.uri = absl::StrCat(database_.uri(), "&user=", role.name)};
  }

  void MakeSchema(int version) const {
    database_.Run("CREATE SCHEMA skiplane; CREATE TABLE skiplane.schema_version (version int)");
    database_.Run(absl::StrCat("INSERT INTO skiplane.schema_version VALUES (", version, ")"));
  }

  // The backend that waits for a lock in this database.
  int WaitForBlocked() const {
    const absl::Time end = absl::Now() + absl::Seconds(60);
    int pid = 0;
    while (pid == 0 && absl::Now() < end) {
      Require(absl::SimpleAtoi(
                  database_.Run("SELECT coalesce(max(pid), 0) FROM pg_locks l, pg_database d "
                                "WHERE NOT l.granted AND l.database = d.oid "
                                "AND d.datname = current_database()"),
                  &pid),
              "no number");
    }
    Require(pid != 0, "nobody waits for a lock");
    return pid;
  }
};

TEST_F(RequirementsTest, ADurableServerPassesAndGoesOnPassing) {
  const auto session = Open();
  EXPECT_THAT(session->RecheckNow(), IsOk());
  EXPECT_THAT(CheckNotShared(Options(), *session), IsOk());
  EXPECT_TRUE(session->alive());
}

TEST_F(RequirementsTest, ADatabaseHasTheSchemaThatIsAskedForOrANewerOne) {
  ConnectOptions options = Options();
  options.schema_version = 3;
  EXPECT_THAT(Session::Open(options, nullptr).status(), ReasonIs("DATABASE_UNAVAILABLE"));
  MakeSchema(2);
  const absl::Status older = Session::Open(options, nullptr).status();
  EXPECT_THAT(older, ReasonIs("DATABASE_UNAVAILABLE"));
  EXPECT_THAT(std::string(older.message()), HasSubstr("has version 2 and this broker needs 3"));
  for (const int version : {3, 4}) {
    database_.Run(absl::StrCat("INSERT INTO skiplane.schema_version VALUES (", version, ")"));
    EXPECT_THAT(Session::Open(options, nullptr), IsOk()) << version;
  }
}

// Upkeep takes a connection that is lost for an outage, and gives every session its grace.
TEST_F(RequirementsTest, AStatementThatMissesATableOfASchemaThatIsThereIsADefect) {
  MakeSchema(1);
  ConnectOptions options = Options();
  options.schema_version = 1;
  const auto session = Open(options);
  EXPECT_THAT(session->RunText(kMissing).status(), ReasonIs("INTERNAL_ERROR"));
  EXPECT_THAT(session->Recheck(), IsOk());
  EXPECT_TRUE(session->alive());
}

TEST_F(RequirementsTest, AConnectionWhoseSchemaIsGoneIsNotUsedAgain) {
  MakeSchema(1);
  ConnectOptions options = Options();
  options.schema_version = 1;
  const auto session = Open(options);
  const auto in_transaction = Open(options);
  EXPECT_THAT(in_transaction->RunText("BEGIN"), IsOk());
  database_.Run("DROP SCHEMA skiplane CASCADE");
  EXPECT_THAT(session->RunText(kMissing).status(), ReasonIs("DATABASE_UNAVAILABLE"));
  EXPECT_FALSE(session->alive());
  EXPECT_THAT(in_transaction->RunText(kMissing).status(), ReasonIs("INTERNAL_ERROR"));
  EXPECT_THAT(in_transaction->RunText("ROLLBACK"), IsOk());
  EXPECT_THAT(in_transaction->Recheck(), ReasonIs("DATABASE_UNAVAILABLE"));
  EXPECT_FALSE(in_transaction->alive());
}

TEST_F(RequirementsTest, AServerWithoutFsyncOrFullPageWritesIsRefusedUnlessThatIsAllowed) {
  for (const char* const setting : {"fsync", "full_page_writes"}) {
    const testing::Cluster cluster({.settings = {absl::StrCat(setting, "=off")}});
    ConnectOptions options{.uri = cluster.uri("postgres")};
    const absl::Status status = Session::Open(options, nullptr).status();
    EXPECT_THAT(status, ReasonIs("DATABASE_NOT_DURABLE"));
    EXPECT_THAT(std::string(status.message()), HasSubstr(setting));
    options.allow_unsafe_durability = true;
    EXPECT_THAT(Session::Open(options, nullptr), IsOk());
  }
}

TEST_F(RequirementsTest, ASessionThatDoesNotWaitForCommitsAnyMoreIsNotUsedAgain) {
  const auto session = Open();
  ASSERT_THAT(session->RunText("SET synchronous_commit = local"), IsOk());
  const absl::Status status = session->RecheckNow();
  EXPECT_THAT(status, ReasonIs("DATABASE_NOT_DURABLE"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("synchronous_commit"));
  EXPECT_FALSE(session->alive());
}

TEST_F(RequirementsTest, ASessionWhoseSettingsAnotherClientHasChangedIsShared) {
  const auto session = Open();
  ASSERT_THAT(session->RunText("SET skiplane.connection = 'of another'"), IsOk());
  EXPECT_THAT(session->RecheckNow(), ReasonIs("POOLER_NOT_SUPPORTED"));
  EXPECT_FALSE(session->alive());
}

TEST_F(RequirementsTest, AServerThatBecomesReadOnlyIsLeftEvenIfTheUriAllowsIt) {
  ConnectOptions options = Options();
  options.uri += "&target_session_attrs=any";
  const auto session = Open(options);
  ASSERT_THAT(session->RunText("SET default_transaction_read_only = on"), IsOk());
  EXPECT_THAT(session->RecheckNow(), ReasonIs("DATABASE_READ_ONLY"));
}

TEST_F(RequirementsTest, TheOnlyConnectionThereIsIsSharedWithNobody) {
  const Role alone(database_, "alone", "LOGIN CONNECTION LIMIT 1");
  const ConnectOptions options = OptionsOf(alone);
  const auto session = Open(options);
  EXPECT_THAT(CheckNotShared(options, *session), IsOk());
}

TEST_F(RequirementsTest, ALoginRoleThatTakesAnotherRoleByDefaultConnects) {
  const Role owner(database_, "owner", "");
  const Role login(database_, "login", "LOGIN NOINHERIT");
  database_.Run("GRANT " + owner.name + " TO " + login.name);
  database_.Run("ALTER ROLE " + login.name + " SET role = '" + owner.name + "'");
  const ConnectOptions options = OptionsOf(login);
  const auto session = Open(options);
  EXPECT_THAT(session->RecheckNow(), IsOk());
  EXPECT_THAT(CheckNotShared(options, *session), IsOk());
}

TEST_F(RequirementsTest, ARoleThatMayNotLookAtBackendsConnectsAlsoAfterOneWasAbandoned) {
  const Role blind(database_, "blind", "LOGIN");
  database_.Run("REVOKE SELECT ON pg_catalog.pg_stat_activity FROM PUBLIC");
  ConnectOptions options = OptionsOf(blind);
  options.abandoned = std::make_shared<AbandonedBackends>();
  options.abandoned->Add({});
  EXPECT_THAT(Open(options)->RecheckNow(), IsOk());
}

TEST_F(RequirementsTest, ARightThatTheLookAtTheServerLacksIsToldAsThat) {
  const Role poor(database_, "poor", "LOGIN");
  database_.Run("REVOKE EXECUTE ON FUNCTION pg_catalog.pg_is_in_recovery() FROM PUBLIC");
  const absl::Status status = Session::Open(OptionsOf(poor), nullptr).status();
  EXPECT_THAT(status, ReasonIs("DATABASE_PERMISSION_DENIED"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("pg_is_in_recovery"));
}

// As a configuration reload does it.
TEST_F(RequirementsTest, AnotherWayToWriteDatesMakesNoConnectionAnother) {
  const auto session = Open();
  ASSERT_THAT(session->RunText("SET datestyle = 'German'"), IsOk());
  EXPECT_THAT(session->RecheckNow(), IsOk());
}

TEST_F(RequirementsTest, AConnectionThatBreaksBeforeAnythingWasAskedLeavesNoOutcomeInDoubt) {
  const auto locker = Open();
  for (const char* const text :
       {"SET allow_system_table_mods = on", "BEGIN",
        "ALTER VIEW pg_catalog.pg_stat_activity SET (security_barrier = false)"}) {
    ASSERT_THAT(locker->RunText(text), IsOk());
  }
  ConnectOptions options = Options();
  options.statement_timeout = absl::Seconds(3);  // by when it does not answer any more
  options.lock_timeout = absl::Seconds(60);
  options.tcp_user_timeout = absl::Milliseconds(100);
  options.abandoned = std::make_shared<AbandonedBackends>();
  options.abandoned->Add({});
  absl::Status status;
  std::thread opener([&] { status = Session::Open(options, nullptr).status(); });
  const int pid = WaitForBlocked();
  {
    const testing::Frozen frozen(pid);
    opener.join();
  }
  EXPECT_THAT(status, ReasonIs("DATABASE_UNAVAILABLE"));
}

// Instead of a standby that is away: whoever waits for one that does not exist waits for ever.
TEST(AbandonedTest, ConnectionsAreNotReplacedWhileTheirBackendsWaitForAStandby) {
  testing::Cluster cluster;
  const std::string uri = cluster.uri("postgres");
  testing::RunSql(uri, "CREATE TABLE t (v int); GRANT INSERT ON t TO PUBLIC");
  // Which sees less by itself than the role that it logs in as.
  testing::RunSql(uri, "CREATE ROLE owner; CREATE ROLE login LOGIN IN ROLE owner");
  testing::RunSql(uri, "ALTER ROLE login SET role = 'owner'");
  testing::RunSql(uri, "ALTER SYSTEM SET synchronous_standby_names = 's'");
  testing::RunSql(uri, "SELECT pg_reload_conf()");
  ConnectOptions options{.uri = uri + "&user=login"};
  options.abandoned = std::make_shared<AbandonedBackends>();
  ConnectOptions impatient = options;  // once it is connected
  impatient.statement_timeout = absl::Seconds(2);
  impatient.tcp_user_timeout = absl::Seconds(1);
  const auto one = testing::Required(Session::Open(impatient, nullptr));
  auto other = testing::Required(Session::Open(impatient, nullptr));
  EXPECT_THAT(other->RunText("INSERT INTO t VALUES (1)"), ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  other.reset();
  EXPECT_THAT(one->RunText("INSERT INTO t VALUES (1)"), ReasonIs("COMMIT_OUTCOME_UNKNOWN"));
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = Session::Open(options, nullptr).status();
    EXPECT_THAT(status, ReasonIs("SYNCHRONOUS_STANDBY_AWAY"));
  }
  // Nobody has ended them: their commits are there, and count, once there is no standby to await.
  testing::RunSql(uri, "ALTER SYSTEM RESET synchronous_standby_names");
  testing::RunSql(uri, "SELECT pg_reload_conf()");
  const absl::Time end = absl::Now() + absl::Seconds(60);
  absl::Status status = Session::Open(options, nullptr).status();
  while (base::ReasonOf(status) == "SYNCHRONOUS_STANDBY_AWAY" && absl::Now() < end) {
    status = Session::Open(options, nullptr).status();
  }
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(testing::RunSql(uri, "SELECT count(*) FROM t"), "2");
}

}  // namespace
}  // namespace skiplane::pg
