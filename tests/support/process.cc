#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

app::Child StartChild(app::ChildOptions options, int* output_fd) {
  int ends[2];
  Require(pipe2(ends, O_CLOEXEC) == 0, "pipe");
  *output_fd = ends[0];
  options.output_fd = ends[1];
  app::Child child = Required(app::Child::Start(options));
  close(ends[1]);
  return child;
}

int MillisecondsUntil(absl::Time deadline) {
  const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
  return static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
}

bool HasContent(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

}  // namespace

Process::Process(app::ChildOptions options)
    : stop_fd_(eventfd(0, EFD_CLOEXEC)),
      child_(StartChild(std::move(options), &output_fd_)),
      collector_([this] { Collect(); }) {}

Process::~Process() {
  child_.Signal(SIGKILL);
  child_.Wait(kGenerous);
  // What the program started may still hold the pipe.
  eventfd_write(stop_fd_, 1);
  collector_.join();
  close(stop_fd_);
  close(output_fd_);
}

int Process::Wait(absl::Duration bound) {
  const std::optional<int> code = child_.Wait(bound);
  Require(code.has_value(), absl::StrCat("a program did not end; its output:\n", output()));
  return *code;
}

std::string Process::output() const {
  base::MutexLock lock(mutex_);
  return output_;
}

bool Process::WaitForOutput(absl::string_view text, absl::Duration bound) {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(bound);
  base::MutexLock lock(mutex_);
  while (!absl::StrContains(output_, text)) {
    if (output_ended_ || !changed_.WaitUntil(mutex_, deadline)) {
      return absl::StrContains(output_, text);
    }
  }
  return true;
}

bool Process::WaitForEndOfOutput(absl::Duration bound) {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(bound);
  base::MutexLock lock(mutex_);
  while (!output_ended_) {
    if (!changed_.WaitUntil(mutex_, deadline)) return output_ended_;
  }
  return true;
}

bool Process::WaitForFile(const std::string& path, absl::Duration bound) {
  const absl::Time deadline = absl::Now() + bound;
  const int changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  inotify_add_watch(changes, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_MODIFY);
  bool found = HasContent(path);
  bool ended = false;
  while (!found && !ended && absl::Now() < deadline) {
    std::array<pollfd, 2> waiters{{{changes, POLLIN, 0}, {child_.end_fd(), POLLIN, 0}}};
    poll(waiters.data(), waiters.size(), MillisecondsUntil(deadline));
    std::array<char, 4096> events;
    while (read(changes, events.data(), events.size()) > 0) {
    }
    ended = waiters[1].revents != 0;
    found = HasContent(path);
  }
  close(changes);
  return found;
}

void Process::Collect() {
  std::array<char, 65536> buffer;
  for (;;) {
    std::array<pollfd, 2> waiters{{{output_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}}};
    poll(waiters.data(), waiters.size(), -1);
    if (waiters[0].revents == 0 && waiters[1].revents != 0) break;
    const ssize_t got = read(output_fd_, buffer.data(), buffer.size());
    if (got <= 0) break;
    base::MutexLock lock(mutex_);
    output_.append(buffer.data(), static_cast<size_t>(got));
    changed_.NotifyAll();
  }
  base::MutexLock lock(mutex_);
  output_ended_ = true;
  changed_.NotifyAll();
}

}  // namespace skiplane::testing
