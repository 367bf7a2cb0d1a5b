#include "server/app/cluster/embedded_cluster.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "server/app/cluster/data_folder.h"
#include "server/base/status_macros.h"

namespace skiplane::app {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(20);
constexpr int kPredecessorBoundMs = 10'000;
constexpr off_t kLogBytesMax = 16 << 20;
constexpr size_t kLogLinesShown = 8;
constexpr size_t kPidLine = 0;
constexpr size_t kStateLine = 7;

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string LogPath(const EmbeddedPlace& place) { return place.folder + "/postgres.log"; }

std::string LastWords(const EmbeddedPlace& place) {
  std::vector<std::string> lines = Lines(LogPath(place));
  const size_t first = lines.size() > kLogLinesShown ? lines.size() - kLogLinesShown : 0;
  return absl::StrJoin(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), "\n");
}

// What PostgreSQL itself writes about its state; line 8 is "ready" when it accepts connections.
std::vector<std::string> PidFile(const EmbeddedPlace& place) {
  return Lines(absl::StrCat(place.data(), "/postmaster.pid"));
}

// A process that works in the data folder, which a number from an old file alone does not prove.
bool WorksIn(pid_t pid, const std::string& data) {
  std::error_code error;
  const auto cwd = std::filesystem::read_symlink(absl::StrCat("/proc/", pid, "/cwd"), error);
  return !error && cwd.string() == data;
}

// The PostgreSQL of a broker that was killed is on its way out: it got its signal as we did not.
absl::Status AwaitPredecessor(const EmbeddedPlace& place) {
  const std::vector<std::string> lines = PidFile(place);
  pid_t pid = 0;
  if (lines.empty() || !absl::SimpleAtoi(lines[kPidLine], &pid) || pid <= 0) {
    return absl::OkStatus();
  }
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return absl::OkStatus();
  pollfd end{fd, POLLIN, 0};
  const bool ours = WorksIn(pid, place.data());
  const bool gone = !ours || poll(&end, 1, kPredecessorBoundMs) > 0;
  close(fd);
  if (gone) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("PostgreSQL (process ", pid, ") still runs in ", place.data(),
                   ": wait until it has stopped, or stop it with `kill -INT ", pid, "`"));
}

absl::StatusOr<int> OpenLog(const EmbeddedPlace& place) {
  const std::string path = LogPath(place);
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 && found.st_size > kLogBytesMax) {
    std::error_code error;
    std::filesystem::rename(path, path + ".1", error);
  }
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  return fd;
}

absl::StatusOr<Child> StartPostmaster(const EmbeddedPlace& place, const std::string& binaries,
                                      const std::string& socket_folder) {
  ChildOptions options;
  options.argv = {absl::StrCat(binaries, "/postgres"), "-D", place.data(), "-c",
                  absl::StrCat("unix_socket_directories=", socket_folder)};
  options.user = place.user;
  options.death_signal = SIGINT;
  ASSIGN_OR_RETURN(options.output_fd, OpenLog(place));
  absl::StatusOr<Child> child = Child::Start(options);
  close(options.output_fd);
  return child;
}

absl::Status AwaitReady(const EmbeddedPlace& place, Child& postmaster, absl::Duration bound) {
  const absl::Time deadline = absl::Now() + bound;
  const std::string pid = absl::StrCat(postmaster.pid());
  while (absl::Now() < deadline) {
    const std::vector<std::string> lines = PidFile(place);
    if (lines.size() > kStateLine && lines[kPidLine] == pid &&
        absl::StartsWith(lines[kStateLine], "ready")) {
      return absl::OkStatus();
    }
    if (postmaster.Wait(kPause)) {
      return absl::InternalError(absl::StrCat("PostgreSQL did not start; the end of ",
                                              LogPath(place), ":\n", LastWords(place)));
    }
  }
  return absl::DeadlineExceededError(
      absl::StrCat("PostgreSQL is not ready after ", absl::FormatDuration(bound), ": see ",
                   LogPath(place)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::Start(
    const EmbeddedOptions& options) {
  ASSIGN_OR_RETURN(ReservedPlace reserved, ReservePlace(options.dir));
  return Start(std::move(reserved), options);
}

absl::StatusOr<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::Start(
    ReservedPlace reserved, const EmbeddedOptions& options) {
  const EmbeddedPlace& place = reserved.place;
  RETURN_IF_ERROR(AwaitPredecessor(place));
  ASSIGN_OR_RETURN(const std::string binaries, BinariesFor(place, options.pg_bindir));
  RETURN_IF_ERROR(WriteSettings(place));
  RETURN_IF_ERROR(EnsureData(place, binaries));
  const std::string socket_folder = SocketFolder(place);
  RETURN_IF_ERROR(MakePrivateFolder(socket_folder, place.user));
  ASSIGN_OR_RETURN(Child postmaster, StartPostmaster(place, binaries, socket_folder));
  auto cluster = std::unique_ptr<EmbeddedCluster>(
      new EmbeddedCluster(std::move(reserved), std::move(postmaster)));
  RETURN_IF_ERROR(
      AwaitReady(cluster->reserved_.place, cluster->postmaster_, options.start_timeout));
  return cluster;
}

EmbeddedCluster::EmbeddedCluster(ReservedPlace reserved, Child postmaster)
    : reserved_(std::move(reserved)), postmaster_(std::move(postmaster)) {}

EmbeddedCluster::~EmbeddedCluster() { Stop(); }

std::string EmbeddedCluster::uri() const { return EmbeddedUri(reserved_.place); }

void EmbeddedCluster::Stop(absl::Duration bound) {
  if (std::exchange(stopped_, true)) return;
  // Fast shutdown, then immediate shutdown, which is as safe but leaves the recovery to the next
  // start, then the kernel's way.
  postmaster_.Signal(SIGINT);
  if (!postmaster_.Wait(bound)) {
    postmaster_.Signal(SIGQUIT);
    if (!postmaster_.Wait(absl::Seconds(2))) {
      postmaster_.Signal(SIGKILL);
      postmaster_.Wait(absl::Seconds(2));
    }
  }
  rmdir(SocketFolder(reserved_.place).c_str());
}

}  // namespace skiplane::app
