#include "client/cli/work/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "client/cli/work/fork.h"
#include "client/cli/work/group_keeper.h"

namespace skiplane::cli {
namespace {

// The limit of open files that programs get, if this process raised its own.
std::optional<rlimit> programs_file_limit;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe MakePipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// What the child needs, made before the fork.
struct Child {
  std::vector<char*> argv;
  std::vector<char*> environment;
  int input = -1;
  int output = -1;
  int error = -1;
  int report = -1;
  pid_t parent = 0;
  std::optional<rlimit> file_limit;
  GroupKeeper* keeper = nullptr;
};

// What came since the fork was meant for the worker's group: to ignore it drops it.
void ResetHandlers() {
  for (const int number : {SIGPIPE, SIGINT, SIGTERM}) {
    signal(number, SIG_IGN);
    signal(number, SIG_DFL);
  }
  if (signal(SIGHUP, SIG_IGN) != SIG_IGN) signal(SIGHUP, SIG_DFL);  // as nohup wants it
}

[[noreturn]] void Become(const Child& child) {
  setpgid(0, 0);
  // Before it can have children; the worker may be killed before it could tell.
  if (child.keeper != nullptr) child.keeper->Began(getpid());
  ResetHandlers();
  UnblockSignals();
  if (child.file_limit) setrlimit(RLIMIT_NOFILE, &*child.file_limit);
  // So that nobody works on a task whose worker was killed.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const bool is_ready = getppid() == child.parent && dup2(child.input, STDIN_FILENO) >= 0 &&
                        (child.output < 0 || dup2(child.output, STDOUT_FILENO) >= 0) &&
                        dup2(child.error, STDERR_FILENO) >= 0;
  if (is_ready) execvpe(child.argv[0], child.argv.data(), child.environment.data());
  const int error_number = errno;
  [[maybe_unused]] const ssize_t written =
      write(child.report, &error_number, sizeof(error_number));
  _exit(127);
}

// One that did not become a program.
void Bury(pid_t pid, const Program& program) {
  siginfo_t end;
  waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED);
  if (program.keeper != nullptr) program.keeper->Ended(pid);
}

void DoNotBlock(const Descriptor& descriptor) {
  if (descriptor.is_open()) fcntl(descriptor.get(), F_SETFL, O_NONBLOCK);
}

}  // namespace

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (!programs_file_limit) programs_file_limit = limit;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Spawned Spawn(const Program& program) {
  Spawned spawned;
  Pipe input = MakePipe();
  Pipe output = program.keeps_output ? MakePipe() : Pipe{};
  Pipe error = MakePipe();
  Pipe report = MakePipe();
  const Child child{.argv = Pointers(program.argv),
                    .environment = Pointers(program.environment),
                    .input = input.read.get(),
                    .output = output.write.get(),
                    .error = error.write.get(),
                    .report = report.write.get(),
                    .parent = getpid(),
                    .file_limit = programs_file_limit,
                    .keeper = program.keeper};
  const pid_t pid = report.write.is_open() ? ForkBlocked() : -1;
  if (pid == 0) Become(child);
  spawned.error_number = errno;
  if (pid < 0) return spawned;
  setpgid(pid, pid);  // either of the two is first
  report.write.Close();
  // Reads nothing when exec has closed the other end.
  if (read(report.read.get(), &spawned.error_number, sizeof(int)) > 0) {
    Bury(pid, program);
    return spawned;
  }
  spawned.end = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!spawned.end.is_open()) {
    spawned.error_number = errno;
    kill(-pid, SIGKILL);
    Bury(pid, program);
    return spawned;
  }
  spawned.pid = pid;
  spawned.input = std::move(input.write);
  spawned.output = std::move(output.read);
  spawned.error = std::move(error.read);
  for (const Descriptor* stream : {&spawned.input, &spawned.output, &spawned.error}) {
    DoNotBlock(*stream);
  }
  return spawned;
}

}  // namespace skiplane::cli
