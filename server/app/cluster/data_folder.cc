#include "server/app/cluster/data_folder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/app/cluster/child.h"
#include "server/app/cluster/embedded_settings.h"
#include "server/app/cluster/postgres_binaries.h"
#include "server/base/status_macros.h"

namespace skiplane::app {
namespace {

constexpr char kInclude[] = "\n# Below this line your own settings have the last word.\n";

absl::Status RunTool(const EmbeddedPlace& place, std::vector<std::string> argv, int stdin_fd) {
  const std::string log = absl::StrCat(place.folder, "/initdb.log");
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  const int log_fd = open(log.c_str(), flags, 0644);
  if (log_fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", log));
  ChildOptions options;
  options.argv = std::move(argv);
  options.user = place.user;
  options.stdin_fd = stdin_fd;
  options.output_fd = log_fd;
  options.death_signal = SIGKILL;
  absl::StatusOr<Child> child = Child::Start(options);
  close(log_fd);
  RETURN_IF_ERROR(child.status());
  const int code = child->Wait(absl::InfiniteDuration()).value_or(-1);
  if (code == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(options.argv[0], " failed with code ", code, ": see ", log));
}

// In single-user mode: no server and no socket is needed for it.
absl::Status CreateDatabase(const EmbeddedPlace& place, const std::string& binaries,
                            const std::string& data) {
  constexpr absl::string_view kSql = "CREATE DATABASE skiplane\n";
  const int fd = memfd_create("sql", MFD_CLOEXEC);
  if (fd < 0 || pwrite(fd, kSql.data(), kSql.size(), 0) < 0) {
    return absl::ErrnoToStatus(errno, "cannot write to memory");
  }
  const absl::Status status =
      RunTool(place, {absl::StrCat(binaries, "/postgres"), "--single", "-D", data, "-c",
                      "exit_on_error=on", "postgres"}, fd);
  close(fd);
  return status;
}

absl::Status SyncFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  return synced ? absl::OkStatus() : absl::ErrnoToStatus(error, absl::StrCat("cannot sync ", path));
}

absl::Status MakeDraft(const EmbeddedPlace& place, const std::string& binaries,
                       const std::string& draft) {
  std::error_code error;
  std::filesystem::remove_all(draft, error);
  RETURN_IF_ERROR(MakePrivateFolder(draft, place.user));
  RETURN_IF_ERROR(RunTool(place, {absl::StrCat(binaries, "/initdb"), "-D", draft, "-U", "skiplane",
                                  "--auth-local=trust", "--auth-host=reject", "-E", "UTF8",
                                  "--locale=C"}, -1));
  RETURN_IF_ERROR(CreateDatabase(place, binaries, draft));
  std::ofstream settings(absl::StrCat(draft, "/postgresql.conf"), std::ios::app);
  settings << "\ninclude = '../skiplane.conf'" << kInclude << std::flush;
  return settings ? absl::OkStatus() : absl::InternalError("cannot write postgresql.conf");
}

}  // namespace

absl::StatusOr<std::string> BinariesFor(const EmbeddedPlace& place, const std::string& given) {
  std::ifstream file(absl::StrCat(place.data(), "/PG_VERSION"));
  std::string version;
  if (given.empty() && file >> version) {
    const absl::StatusOr<std::string> same =
        FindPostgresBinaries(absl::StrCat("/usr/lib/postgresql/", version, "/bin"));
    if (same.ok()) return same;
  }
  return FindPostgresBinaries(given);
}

absl::Status EnsureData(const EmbeddedPlace& place, const std::string& binaries) {
  // An existing folder of another account is refused here, not by PostgreSQL's obscure words.
  if (std::filesystem::exists(place.data())) return MakePrivateFolder(place.data(), place.user);
  const std::string draft = absl::StrCat(place.folder, "/pgdata.draft");
  RETURN_IF_ERROR(MakeDraft(place, binaries, draft));
  std::error_code error;
  std::filesystem::rename(draft, place.data(), error);
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot rename ", draft));
  return SyncFolder(place.folder);
}

absl::Status WriteSettings(const EmbeddedPlace& place) {
  const std::string path = absl::StrCat(place.folder, "/skiplane.conf");
  const std::string draft = absl::StrCat(path, ".draft");
  std::ofstream file(draft, std::ios::trunc);
  file << EmbeddedSettings(MemoryBytes()) << std::flush;
  if (!file) return absl::InternalError(absl::StrCat("cannot write ", draft));
  std::error_code error;
  std::filesystem::rename(draft, path, error);
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot write ", path));
  return absl::OkStatus();
}

}  // namespace skiplane::app
