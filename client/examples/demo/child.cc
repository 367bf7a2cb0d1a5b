#include "client/examples/demo/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skiplane::demo {

absl::StatusOr<Child> Child::Start(const std::vector<std::string>& arguments) {
  std::array<int, 2> pipe_fds{};
  if (pipe2(pipe_fds.data(), O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("pipe: ", strerror(errno)));
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  // dup2 onto itself would keep the flag that closes it.
  const int write_end = fcntl(pipe_fds[1], F_DUPFD_CLOEXEC, kReportFd + 1);
  close(pipe_fds[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end, kReportFd);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(write_end);
  if (error != 0) {
    close(pipe_fds[0]);
    return absl::InternalError(absl::StrCat("cannot start a worker: ", strerror(error)));
  }
  fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
  return Child(pid, pipe_fds[0]);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      report_fd_(std::exchange(other.report_fd_, -1)),
      unread_(std::move(other.unread_)) {}

Child::~Child() {
  Signal(SIGKILL);
  Wait();
  if (report_fd_ >= 0) close(report_fd_);
}

std::vector<Record> Child::Read() {
  std::array<char, 1 << 16> buffer;
  while (report_fd_ >= 0) {
    const ssize_t size = read(report_fd_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) break;
    if (size == 0) close(std::exchange(report_fd_, -1));
    unread_.append(buffer.data(), static_cast<size_t>(size));
  }
  std::vector<Record> records;
  size_t begin = 0;
  for (size_t end; (end = unread_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto record = ParseLine(absl::string_view(unread_).substr(begin, end - begin));
    if (record) records.push_back(*std::move(record));
  }
  unread_.erase(0, begin);
  return records;
}

void Child::Signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

void Child::WaitUntilStopped() const {
  int status = 0;
  waitpid(pid_, &status, WUNTRACED);
}

bool Child::Wait() {
  if (pid_ <= 0) return false;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace skiplane::demo
