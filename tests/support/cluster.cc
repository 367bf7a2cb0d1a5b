#include "tests/support/cluster.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/app/cluster/postgres_binaries.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

constexpr char kFolderVariable[] = "SKIPLANE_TEST_PG";
constexpr char kMemory[] = "/dev/shm";
constexpr uint64_t kRoom = uint64_t{4} << 30;
constexpr char kPristine[] = "/pristine";
constexpr char kReady[] = "database system is ready to accept connections";

// Waits until the test program has gone, however it ended, then stops what it left and removes it.
constexpr char kKeeper[] = R"sh(
cat >/dev/null
pid=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null) &&
  [ "$(readlink "/proc/$pid/cwd")" = "$0/data" ] &&
  kill -QUIT "$pid" 2>/dev/null && tail --pid="$pid" -s 0.1 -f /dev/null
rm -rf -- "$0"
)sh";

bool HasRoomInMemory() {
  struct statvfs memory;
  return access(kMemory, W_OK) == 0 && statvfs(kMemory, &memory) == 0 &&
         uint64_t{memory.f_bavail} * memory.f_frsize >= kRoom;
}

std::string MakeFolder(const std::optional<app::SystemUser>& owner) {
  std::string folder = absl::StrCat(HasRoomInMemory() ? kMemory : "/tmp", "/skiplane-pg-XXXXXX");
  Require(mkdtemp(folder.data()) != nullptr, absl::StrCat("no folder can be made: ", folder));
  if (owner) Require(chown(folder.c_str(), owner->uid, owner->gid) == 0, "chown");
  return folder;
}

}  // namespace

Cluster& Cluster::Shared() {
  static const char* const folder = std::getenv(kFolderVariable);
  static Cluster cluster = folder != nullptr ? Cluster(Elsewhere{folder}) : Cluster();
  return cluster;
}

Cluster::Cluster(Elsewhere elsewhere) : folder_(std::move(elsewhere.folder)) {}

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)),
      binaries_(Required(app::FindPostgresBinaries(""))),
      user_(Required(app::PostgresUser())) {
  folder_ = MakeFolder(user_);
  StartKeeper();
  MakeData();
  Start();
}

Cluster::~Cluster() {
  if (keeper_fd_ < 0) return;
  StopImmediately();
  close(keeper_fd_);
  keeper_->Wait(kGenerous);
}

std::string Cluster::uri(absl::string_view database, absl::string_view user) const {
  return absl::StrCat("postgresql://", user, "@/", database, "?host=", folder_);
}

void Cluster::StartKeeper() {
  int ends[2];
  Require(pipe2(ends, O_CLOEXEC) == 0, "pipe");
  app::ChildOptions options;
  options.argv = {"/bin/sh", "-c", kKeeper, folder_};
  options.stdin_fd = ends[0];
  keeper_ = Required(app::Child::Start(options));
  close(ends[0]);
  keeper_fd_ = ends[1];
}

void Cluster::MakeData() {
  const std::string data = absl::StrCat(folder_, "/data");
  if (const char* const shared = std::getenv(kFolderVariable)) {
    RunAsOwner({"/bin/cp", "-a", absl::StrCat(shared, kPristine), data});
    return;
  }
  RunAsOwner({absl::StrCat(binaries_, "/initdb"), "-D", data, "-U", "skiplane", "-A", "trust", "-E",
              "UTF8", "--locale=C", "--no-sync"});
  if (options_.keeps_pristine) {
    RunAsOwner({"/bin/cp", "-a", data, absl::StrCat(folder_, kPristine)});
  }
}

void Cluster::RunAsOwner(std::vector<std::string> argv) {
  app::ChildOptions options;
  options.argv = std::move(argv);
  options.user = user_;
  Process process(options);
  Require(process.Wait() == 0, absl::StrCat(options.argv[0], ": ", process.output()));
}

void Cluster::Start() {
  app::ChildOptions options;
  options.argv = {absl::StrCat(binaries_, "/postgres"), "-D", absl::StrCat(folder_, "/data")};
  options.user = user_;
  std::vector<std::string> settings = {
      "listen_addresses=", absl::StrCat("unix_socket_directories=", folder_),
      "max_connections=200", "shared_buffers=128MB", "max_wal_size=1GB",
      absl::StrCat("fsync=", options_.fsync ? "on" : "off")};
  settings.insert(settings.end(), options_.settings.begin(), options_.settings.end());
  for (const std::string& setting : settings) {
    options.argv.push_back("-c");
    options.argv.push_back(setting);
  }
  postmaster_ = std::make_unique<Process>(options);
  Require(postmaster_->WaitForOutput(kReady), postmaster_->output());
}

void Cluster::End(int signal) {
  postmaster_->Signal(SIGCONT);
  postmaster_->Signal(signal);
  postmaster_->Wait();
  // A process that outlives its postmaster would keep the next one from starting.
  Require(postmaster_->WaitForEndOfOutput(), "PostgreSQL's processes outlive their postmaster");
}

void Cluster::Stop() { End(SIGINT); }
void Cluster::StopImmediately() { End(SIGQUIT); }
void Cluster::Kill() { End(SIGKILL); }
void Cluster::Freeze() { postmaster_->Signal(SIGSTOP); }
void Cluster::Thaw() { postmaster_->Signal(SIGCONT); }

}  // namespace skiplane::testing
