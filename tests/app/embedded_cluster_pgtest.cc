#include "server/app/cluster/embedded_cluster.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/database.h"
#include "tests/support/require.h"
#include "tests/support/status_matchers.h"

namespace skiplane::app {
namespace {

using skiplane::testing::IsOk;
using skiplane::testing::Required;
using skiplane::testing::RunSql;
using skiplane::testing::StatusIs;
using ::testing::HasSubstr;

class EmbeddedClusterPgTest : public ::testing::Test {
 protected:
  EmbeddedClusterPgTest() {
    skiplane::testing::Require(mkdtemp(folder_.data()) != nullptr, "mkdtemp");
    skiplane::testing::Require(chmod(folder_.c_str(), 0755) == 0, "chmod");
  }
  ~EmbeddedClusterPgTest() override { std::filesystem::remove_all(folder_); }

  static absl::StatusOr<std::unique_ptr<EmbeddedCluster>> StartIn(const std::string& dir) {
    return EmbeddedCluster::Start({.dir = dir, .pg_bindir = ""});
  }
  std::string dir() const { return folder_ + "/broker"; }

  std::string folder_ = "/tmp/skiplane-embedded-XXXXXX";
};

// A process that does `work` and then stays until it is killed. Returns when the work is done.
class Companion {
 public:
  explicit Companion(const std::function<void()>& work) {
    int ends[2];
    skiplane::testing::Require(pipe(ends) == 0, "pipe");
    pid_ = fork();
    if (pid_ == 0) {
      work();
      if (write(ends[1], "x", 1) == 1) pause();
      _exit(1);
    }
    close(ends[1]);
    char done = 0;
    worked_ = read(ends[0], &done, 1) == 1;
    close(ends[0]);
  }
  ~Companion() { Kill(); }

  bool worked() const { return worked_; }
  void Kill() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  bool worked_ = false;
};

pid_t PostmasterOf(const std::string& dir) {
  pid_t pid = 0;
  std::ifstream(dir + "/pgdata/postmaster.pid") >> pid;
  return pid;
}

TEST_F(EmbeddedClusterPgTest, FirstUseGivesADurableDatabaseOnASocketOnly) {
  const auto cluster = Required(StartIn(dir()));
  EXPECT_EQ(RunSql(cluster->uri(), "SELECT current_database()"), "skiplane");
  EXPECT_EQ(RunSql(cluster->uri(), "SHOW fsync"), "on");
  EXPECT_EQ(RunSql(cluster->uri(), "SHOW synchronous_commit"), "on");
  EXPECT_EQ(RunSql(cluster->uri(), "SHOW checkpoint_timeout"), "15min");
  EXPECT_EQ(RunSql(cluster->uri(), "SHOW listen_addresses"), "");
}

TEST_F(EmbeddedClusterPgTest, ASecondStartKeepsTheData) {
  {
    const auto cluster = Required(StartIn(dir()));
    RunSql(cluster->uri(), "CREATE TABLE t AS SELECT 7 AS x");
  }
  const auto cluster = Required(StartIn(dir()));
  EXPECT_EQ(RunSql(cluster->uri(), "SELECT x FROM t"), "7");
}

TEST_F(EmbeddedClusterPgTest, ItIsGoneAfterStopAndStopMayBeRepeated) {
  const auto cluster = Required(StartIn(dir()));
  cluster->Stop();
  cluster->Stop();
  EXPECT_EQ(kill(cluster->postmaster(), 0), -1);
}

TEST_F(EmbeddedClusterPgTest, ASecondBrokerInTheSameDirectoryIsRefused) {
  const auto cluster = Required(StartIn(dir()));
  const auto second = StartIn(dir());
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(second.status().message(),
              HasSubstr(absl::StrCat("in use by another broker (process ", getpid(), ")")));
  EXPECT_EQ(RunSql(cluster->uri(), "SELECT 1"), "1");
}

TEST_F(EmbeddedClusterPgTest, PostgresStopsWhenTheBrokerIsKilled) {
  Companion broker([&] { Required(StartIn(dir())).release(); });
  ASSERT_TRUE(broker.worked());
  const pid_t postmaster = PostmasterOf(dir());
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, postmaster, 0));
  ASSERT_GE(fd, 0);
  broker.Kill();
  pollfd end{fd, POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 60'000), 1);
  close(fd);
}

TEST_F(EmbeddedClusterPgTest, ANewBrokerTakesOverFromAKilledOneAtOnce) {
  Companion broker([&] {
    auto cluster = Required(StartIn(dir()));
    RunSql(cluster->uri(), "CREATE TABLE t AS SELECT 7 AS x");
    cluster.release();
  });
  ASSERT_TRUE(broker.worked());
  broker.Kill();
  const auto cluster = StartIn(dir());
  ASSERT_THAT(cluster, IsOk());
  EXPECT_EQ(RunSql((*cluster)->uri(), "SELECT x FROM t"), "7");
}

TEST_F(EmbeddedClusterPgTest, WhatAKilledFirstStartLeftIsReplaced) {
  std::filesystem::create_directories(dir() + "/pgdata.draft/base");
  EXPECT_THAT(StartIn(dir()), IsOk());
}

TEST_F(EmbeddedClusterPgTest, ADirectoryWithALongOrUnusualNameWorks) {
  const std::string dir = absl::StrCat(folder_, "/", std::string(100, 'd'), "/ä b%20&c");
  const auto cluster = Required(StartIn(dir));
  EXPECT_EQ(RunSql(cluster->uri(), "SELECT 1"), "1");
}

TEST_F(EmbeddedClusterPgTest, ANumberOfAnOldPidFileThatAnotherProgramHasIsNotWaitedFor) {
  Required(StartIn(dir()))->Stop();
  std::ofstream(dir() + "/pgdata/postmaster.pid") << getpid() << "\n" << dir() << "/pgdata\n";
  EXPECT_THAT(StartIn(dir()), IsOk());
}

TEST_F(EmbeddedClusterPgTest, AWrongFolderOfBinariesIsNamed) {
  const auto cluster = EmbeddedCluster::Start({.dir = dir(), .pg_bindir = "/nonexistent"});
  EXPECT_THAT(cluster.status().message(), HasSubstr("no initdb and postgres in /nonexistent"));
}

TEST_F(EmbeddedClusterPgTest, RootIsToldWhenTheServersAccountCannotReachTheDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  const auto cluster = StartIn(dir());
  EXPECT_THAT(cluster, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(cluster.status().message(), HasSubstr("choose a directory such as"));
}

TEST_F(EmbeddedClusterPgTest, DataOfAnotherAccountIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  std::filesystem::create_directories(dir() + "/pgdata");
  const auto cluster = StartIn(dir());
  EXPECT_THAT(cluster, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(cluster.status().message(), HasSubstr("is not a closed folder of the account"));
}

TEST_F(EmbeddedClusterPgTest, AnOrdinaryUserNeedsNoOtherAccount) {
  if (geteuid() != 0) GTEST_SKIP() << "every other test shows it";
  const SystemUser user = Required(FindUser("nobody"));
  ASSERT_EQ(chown(folder_.c_str(), user.uid, user.gid), 0);
  const Companion broker([&] {
    const bool changed = setgid(user.gid) == 0 && setuid(user.uid) == 0;
    skiplane::testing::Require(changed, "setuid");
    RunSql(Required(StartIn(dir()))->uri(), "SELECT 1");
  });
  EXPECT_TRUE(broker.worked());
  struct stat data {};
  ASSERT_EQ(stat((dir() + "/pgdata").c_str(), &data), 0);
  EXPECT_EQ(data.st_uid, user.uid);
}

}  // namespace
}  // namespace skiplane::app
