#include "tests/support/cluster.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "gtest/gtest.h"
#include "tests/support/database.h"

namespace skiplane::testing {
namespace {

TEST(ClusterPgTest, ADatabaseIsItsTestsOwnAndGoesWithIt) {
  std::string name;
  {
    const Database first;
    const Database second;
    name = first.name();
    first.Run("CREATE TABLE t (x int)");
    EXPECT_EQ(second.Run("SELECT to_regclass('t')"), "");
    EXPECT_EQ(first.Run("SELECT to_regclass('t')"), "t");
  }
  EXPECT_EQ(RunSql(Cluster::Shared().uri("postgres"),
                   "SELECT count(*) FROM pg_database WHERE datname = '" + name + "'"),
            "0");
}

TEST(ClusterPgTest, AMigratedDatabaseHasTheSchemaAndIsNotSharedWithItsTemplate) {
  const char kQueues[] = "SELECT count(*) FROM skiplane.queue";
  const Database first = Database::Migrated();
  first.Run("INSERT INTO skiplane.queue (name, settings) VALUES ('q', '{}')");
  EXPECT_EQ(first.Run(kQueues), "1");
  EXPECT_EQ(Database::Migrated().Run(kQueues), "0");
}

TEST(ClusterPgTest, ItIsDurableUnlessATestAsksOtherwise) {
  EXPECT_EQ(RunSql(Cluster::Shared().uri("postgres"), "SHOW fsync"), "on");
}

TEST(ClusterPgTest, WhatWasCommittedOutlivesEveryKindOfStop) {
  Cluster cluster;
  const Database database(cluster);
  database.Run("CREATE TABLE t (x int)");
  for (auto stop : {&Cluster::Stop, &Cluster::StopImmediately, &Cluster::Kill}) {
    database.Run("INSERT INTO t VALUES (1)");
    (cluster.*stop)();
    cluster.Start();
  }
  EXPECT_EQ(database.Run("SELECT count(*) FROM t"), "3");
}

TEST(ClusterPgTest, ItsFolderGoesWithIt) {
  std::string folder;
  {
    Cluster cluster({.fsync = false, .settings = {"max_connections=10"}});
    folder = cluster.folder();
    EXPECT_EQ(RunSql(cluster.uri("postgres"), "SHOW max_connections"), "10");
    EXPECT_EQ(RunSql(cluster.uri("postgres"), "SHOW fsync"), "off");
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// A suite of its own, so that it is a process of its own: one that has logged has a thread, and the
// sanitizer of threads lets a fork of such a process start none.
TEST(KilledClusterPgTest, ItGoesWithATestProgramThatIsKilled) {
  // Everything that the child starts holds the pipe, so its end says that all of that has ended.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  if (fork() == 0) {
    close(ends[0]);
    const Cluster cluster;
    if (write(ends[1], cluster.folder().data(), cluster.folder().size()) < 0) _exit(1);
    raise(SIGKILL);
  }
  close(ends[1]);
  std::string folder;
  std::array<char, 256> buffer;
  ssize_t got = 0;
  while ((got = read(ends[0], buffer.data(), buffer.size())) > 0) {
    folder.append(buffer.data(), static_cast<size_t>(got));
  }
  close(ends[0]);
  wait(nullptr);
  ASSERT_NE(folder, "");
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace skiplane::testing
