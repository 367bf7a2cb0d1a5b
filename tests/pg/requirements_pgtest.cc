#include "server/pg/requirements.h"

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

class RequirementsTest : public testing::SessionHarness {};

TEST_F(RequirementsTest, ADurableServerPassesAndGoesOnPassing) {
  const auto session = Open();
  EXPECT_THAT(session->RecheckNow(), IsOk());
  EXPECT_THAT(CheckNotShared(Options(), *session), IsOk());
  EXPECT_TRUE(session->alive());
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
  ASSERT_EQ(database_.Run("CREATE ROLE alone LOGIN CONNECTION LIMIT 1"), "");
  ConnectOptions options = Options();
  options.uri += "&user=alone";
  {
    const auto session = Open(options);
    EXPECT_THAT(CheckNotShared(options, *session), IsOk());
  }
  database_.Run("DROP ROLE alone");
}

// Instead of a standby that is away: whoever waits for one that does not exist waits for ever.
TEST(AbandonedTest, ConnectionsAreNotReplacedWhileTheirBackendsWaitForAStandby) {
  testing::Cluster cluster;
  const std::string uri = cluster.uri("postgres");
  testing::RunSql(uri, "CREATE TABLE t (v int)");
  testing::RunSql(uri, "ALTER SYSTEM SET synchronous_standby_names = 's'");
  testing::RunSql(uri, "SELECT pg_reload_conf()");
  ConnectOptions options{.uri = uri};
  options.statement_timeout = absl::Milliseconds(200);
  options.tcp_user_timeout = absl::Milliseconds(100);
  options.abandoned = std::make_shared<AbandonedBackends>();
  const auto one = testing::Required(Session::Open(options, nullptr));
  auto other = testing::Required(Session::Open(options, nullptr));
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
  absl::Status status;
  do {
    status = Session::Open(options, nullptr).status();
  } while (!status.ok() && base::ReasonOf(status) == "SYNCHRONOUS_STANDBY_AWAY");
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(testing::RunSql(uri, "SELECT count(*) FROM t"), "2");
}

}  // namespace
}  // namespace skiplane::pg
