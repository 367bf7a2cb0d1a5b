#include "client/cli/work/group_keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "client/cli/work/fork.h"

namespace skiplane::cli {
namespace {

// A worker runs 1,000 programs at most; one may begin before the end of another is told.
constexpr size_t kGroupsMax = 4096;
constexpr int kPollMs = 50;

// What runs from here on is the keeper. After a fork of a process with threads it may do only what
// a signal handler may.
struct Groups {
  std::array<pid_t, kGroupsMax> ids{};
  size_t count = 0;

  void Note(pid_t news) {
    if (news > 0 && count < kGroupsMax) ids[count++] = news;
    if (news > 0) return;
    pid_t* const end = ids.data() + count;
    pid_t* const found = std::find(ids.data(), end, -news);
    if (found != end) *found = ids[--count];
  }

  void Signal(int number) const {
    for (size_t i = 0; i < count; ++i) kill(-ids[i], number);
  }

  bool AnyLives() const {
    return std::any_of(ids.data(), ids.data() + count,
                       [](pid_t id) { return kill(-id, 0) == 0; });
  }
};

// The line is to be its only descriptor: it must hold none of the worker's connections open.
void LetGoOfEverything(int line) {
  dup2(line, STDIN_FILENO);
  if (syscall(SYS_close_range, 1U, ~0U, 0U) == 0) return;
  for (int number = 1; number < 4096; ++number) close(number);
}

[[noreturn]] void Keep(int line, int64_t kill_after_ms, char* const* last_command) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  UnblockSignals();
  setpgid(0, 0);  // what is meant for the worker's group is not meant for it
  prctl(PR_SET_NAME, "skiplane-keeper");
  LetGoOfEverything(line);
  Groups groups;
  pid_t news = 0;
  ssize_t size = 0;
  while ((size = read(STDIN_FILENO, &news, sizeof(news))) > 0 || (size < 0 && errno == EINTR)) {
    if (size == sizeof(news)) groups.Note(news);
  }
  groups.Signal(SIGTERM);
  for (int64_t waited = 0; waited < kill_after_ms && groups.AnyLives(); waited += kPollMs) {
    const timespec pause{.tv_sec = 0, .tv_nsec = kPollMs * 1000000L};
    nanosleep(&pause, nullptr);
  }
  groups.Signal(SIGKILL);
  if (last_command != nullptr) execv(last_command[0], last_command);
  _exit(0);
}

}  // namespace

GroupKeeper::GroupKeeper(absl::Duration kill_after, std::string folder) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const int64_t kill_after_ms = absl::ToInt64Milliseconds(kill_after);
  std::array<std::string, 4> words{"/bin/rm", "-rf", "--", std::move(folder)};
  std::array<char*, 5> remove{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                              nullptr};
  char* const* const last_command = words[3].empty() ? nullptr : remove.data();
  pid_ = ForkBlocked();
  if (pid_ == 0) Keep(read_end.get(), kill_after_ms, last_command);
  if (pid_ > 0) line_ = std::move(write_end);
}

GroupKeeper::~GroupKeeper() {
  line_.Close();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

// Writes of this size do not mix. Who reads them is there as long as this process.
void GroupKeeper::Tell(pid_t news) const {
  if (!line_.is_open()) return;
  while (write(line_.get(), &news, sizeof(news)) < 0 && errno == EINTR) {
  }
}

}  // namespace skiplane::cli
