#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "server/pg/migrate/migrator.h"
#include "tests/support/database.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

constexpr char kTemplate[] = "skiplane_migrated";
constexpr char kDraft[] = "skiplane_migrated_draft";

// Test programs that share a cluster may need the template at once: one makes it, the others wait.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    Require(fd_ >= 0 && flock(fd_, LOCK_EX) == 0, absl::StrCat("cannot lock ", path));
  }
  ~FileLock() { close(fd_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

bool Exists(Cluster& cluster) {
  return RunSql(cluster.uri("postgres"),
                absl::StrCat("SELECT 1 FROM pg_database WHERE datname = '", kTemplate, "'")) == "1";
}

// Under the name of a draft until it is complete: a test program may be killed on the way.
void MakeTemplate(Cluster& cluster) {
  const std::string postgres = cluster.uri("postgres");
  RunSql(postgres, absl::StrCat("DROP DATABASE IF EXISTS ", kDraft, " WITH (FORCE)"));
  RunSql(postgres, absl::StrCat("CREATE DATABASE ", kDraft));
  const absl::StatusOr<int> applied = pg::Migrate({.uri = cluster.uri(kDraft)});
  Require(applied.ok(), applied.status().ToString());
  RunSql(postgres, absl::StrCat("DROP ROLE IF EXISTS ", kBrokerUser, "; CREATE ROLE ", kBrokerUser,
                                " LOGIN IN ROLE skiplane_broker"));
  RunSql(postgres, absl::StrCat("ALTER DATABASE ", kDraft, " RENAME TO ", kTemplate));
}

}  // namespace

Database Database::Migrated(Cluster& cluster) {
  if (!Exists(cluster)) {
    const FileLock lock(absl::StrCat(cluster.folder(), "/template.lock"));
    if (!Exists(cluster)) MakeTemplate(cluster);
  }
  return Database(cluster, kTemplate);
}

}  // namespace skiplane::testing
