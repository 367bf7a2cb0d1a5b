#include "server/app/cluster/child.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"

namespace skiplane::app {
namespace {

// poll() counts milliseconds in an int.
constexpr absl::Duration kLongest = absl::Hours(24);

// Everything that the new process needs, made before the fork: after it, memory must not be
// allocated, since another thread may have held the allocator's lock.
struct Plan {
  const ChildOptions& options;
  std::vector<char*> argv;
  std::vector<char*> env;
  int null_fd = -1;
  int report_fd = -1;
  pid_t parent = -1;
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  return pointers;
}

bool BecomeUser(const SystemUser& user) {
  return setgroups(user.groups.size(), user.groups.data()) == 0 && setgid(user.gid) == 0 &&
         setuid(user.uid) == 0;
}

void ResetSignals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
}

bool Prepare(const Plan& plan) {
  const ChildOptions& options = plan.options;
  ResetSignals();
  setsid();
  if (dup2(options.stdin_fd < 0 ? plan.null_fd : options.stdin_fd, 0) < 0) return false;
  if (options.output_fd >= 0) {
    if (dup2(options.output_fd, 1) < 0 || dup2(options.output_fd, 2) < 0) return false;
  }
  if (options.user && !BecomeUser(*options.user)) return false;
  if (chdir(options.directory.c_str()) != 0) return false;
  if (options.death_signal == 0) return true;
  // After the change of the user, which would clear it; and our parent may be gone already.
  if (prctl(PR_SET_PDEATHSIG, options.death_signal) != 0) return false;
  return getppid() == plan.parent;
}

[[noreturn]] void RunChild(const Plan& plan) {
  if (Prepare(plan)) execvpe(plan.argv[0], plan.argv.data(), plan.env.data());
  const int error = errno;
  if (write(plan.report_fd, &error, sizeof(error)) < 0) _exit(126);
  _exit(127);
}

absl::Status ReadReport(int fd, const ChildOptions& options) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(fd, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(error, absl::StrCat("cannot run ", options.argv[0]));
}

absl::StatusOr<pid_t> Fork(Plan& plan) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  plan.null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  plan.report_fd = report[1];
  plan.parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) RunChild(plan);
  const int fork_error = errno;
  close(report[1]);
  close(plan.null_fd);
  absl::Status status = pid < 0 ? absl::ErrnoToStatus(fork_error, "fork")
                                : ReadReport(report[0], plan.options);
  close(report[0]);
  if (status.ok()) return pid;
  if (pid > 0) waitpid(pid, nullptr, 0);
  return status;
}

// It is not the child that systemd waits for: PostgreSQL would say that it is ready, in our place.
bool IsForSystemd(absl::string_view variable) {
  return absl::StartsWith(variable, "NOTIFY_SOCKET=") || absl::StartsWith(variable, "WATCHDOG_");
}

}  // namespace

absl::StatusOr<Child> Child::Start(const ChildOptions& options) {
  Plan plan{options, Pointers(options.argv), Pointers(options.env)};
  plan.argv.push_back(nullptr);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!IsForSystemd(*variable)) plan.env.push_back(*variable);
  }
  plan.env.push_back(nullptr);
  absl::StatusOr<pid_t> pid = Fork(plan);
  if (!pid.ok()) return pid.status();
  // Not pidfd_open(): its declaration in Debian 12 does not link from C++.
  return Child(*pid, static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      end_fd_(std::exchange(other.end_fd_, -1)),
      code_(other.code_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(end_fd_, other.end_fd_);
  std::swap(code_, other.code_);
  return *this;
}

Child::~Child() {
  if (end_fd_ >= 0) close(end_fd_);
}

void Child::Signal(int signal) {
  if (pid_ > 0 && !code_) kill(pid_, signal);
}

std::optional<int> Child::Wait(absl::Duration bound) {
  if (code_ || pid_ <= 0) return code_;
  const absl::Time deadline = absl::Now() + bound;
  for (;;) {
    const absl::Duration left = std::clamp(deadline - absl::Now(), absl::ZeroDuration(), kLongest);
    pollfd waiter{end_fd_, POLLIN, 0};
    const int ready = poll(&waiter, 1, static_cast<int>(absl::ToInt64Milliseconds(left)));
    if (ready > 0) break;
    if (ready == 0 && left < absl::Milliseconds(1)) return std::nullopt;
  }
  int status = 0;
  if (waitpid(pid_, &status, 0) != pid_) return std::nullopt;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code_;
}

}  // namespace skiplane::app
