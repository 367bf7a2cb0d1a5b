#include "client/cli/work/program.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "client/cli/work/group_keeper.h"
#include "client/cli/work/spawn.h"
#include "tests/support/machine_clock.h"

namespace skiplane::cli {
namespace {

ProgramEnd Shell(const std::string& script, const std::string& input = "",
                 bool keeps_output = true) {
  signal(SIGPIPE, SIG_IGN);
  return RunProgram({.argv = {"sh", "-c", script},
                     .environment = {"PATH=/usr/bin:/bin", "GREETING=hi"},
                     .input = input,
                     .keeps_output = keeps_output},
                    std::stop_token());
}

TEST(ProgramTest, InputGoesInAndOutputComesOut) {
  const std::string large(3 << 20, 'x');
  const ProgramEnd end = Shell("wc -c; echo $GREETING >&2", large);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.output, "3145728\n");
  EXPECT_EQ(end.error_tail, "hi\n");
}

TEST(ProgramTest, AProgramNeedNotReadItsInput) {
  const ProgramEnd end = Shell("exit 0", std::string(3 << 20, 'x'));
  EXPECT_EQ(end.exit_code, 0);
}

TEST(ProgramTest, TellsHowItEnded) {
  EXPECT_EQ(Shell("exit 75").exit_code, 75);
  EXPECT_EQ(Shell("kill -9 $$").signal, SIGKILL);
  const ProgramEnd end = RunProgram({.argv = {"/no/such/program"}}, std::stop_token());
  EXPECT_EQ(end.start_error, "No such file or directory");
}

TEST(ProgramTest, TheEndOfALongErrorIsKept) {
  const ProgramEnd end = Shell("seq 1 20000 >&2; exit 1");
  EXPECT_LE(end.error_tail.size(), kErrorTailBytes);
  EXPECT_EQ(end.error_tail.substr(end.error_tail.size() - 6), "20000\n");
}

TEST(ProgramTest, OutputIsKeptUpToABound) {
  EXPECT_EQ(Shell("head -c 5000000 /dev/zero").output.size(), kOutputBytesMax + 1);
}

TEST(ProgramTest, ItDoesNotWaitForGrandchildren) {
  const ProgramEnd end = Shell("sleep 1000 & echo $!");
  EXPECT_EQ(end.exit_code, 0);
  kill(std::stoi(end.output), SIGKILL);
}

TEST(ProgramTest, AStopRequestIsSigterm) {
  std::stop_source stop;
  stop.request_stop();
  const ProgramEnd end = RunProgram(
      {.argv = {"/bin/sleep", "1000"}, .environment = {}}, stop.get_token());
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST(ProgramTest, AndSigkillLater) {
  std::stop_source stop;
  // It ignores SIGTERM before it says so; the pipe that it says it into stops it here.
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  const Program program{
      .argv = {"/bin/sh", "-c",
               absl::StrCat("trap '' TERM; echo > /dev/fd/", said[1], "; while :; do :; done")},
      .environment = {},
      .kill_after = absl::Milliseconds(100)};
  ProgramEnd end;
  std::thread runner([&] { end = RunProgram(program, stop.get_token()); });
  char byte = 0;
  EXPECT_EQ(read(said[0], &byte, 1), 1);
  stop.request_stop();
  runner.join();
  EXPECT_EQ(end.signal, SIGKILL);
}

// Reads until nobody holds the other end open, for a minute at most; returns 0 at the end.
ssize_t WaitForEndOf(int pipe_end) {
  char byte = 0;
  ssize_t count = 0;
  pollfd waited{pipe_end, POLLIN, 0};
  do {
    if (poll(&waited, 1, 60'000) == 0) return -1;
    count = read(pipe_end, &byte, 1);
  } while (count > 0);
  return count;
}

// A shell whose child holds this pipe open for minutes.
Program Hanging(int pipe_end, const std::string& before = "") {
  return {.argv = {"/bin/sh", "-c",
                   absl::StrCat(before, "exec 8>/dev/fd/", pipe_end, "; sleep 301; true")},
          .environment = {"PATH=/usr/bin:/bin"},
          .kill_after = absl::Milliseconds(100)};
}

TEST(ProgramTest, ItsTimeEndsWithItsChildren) {
  int held[2];
  ASSERT_EQ(pipe(held), 0);
  Program program = Hanging(held[1]);
  program.timeout = absl::Milliseconds(100);
  const ProgramEnd end = RunProgram(program, std::stop_token());
  EXPECT_TRUE(end.has_timed_out);
  close(held[1]);
  EXPECT_EQ(WaitForEndOf(held[0]), 0);
  close(held[0]);
}

TEST(ProgramTest, ItsTimeEndsThoughTheMachinesClockIsSetBack) {
  const std::string path = testing::TempDir() + "/set-back-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // Set back before the program's time is over, and once more before it is killed.
  const Program program{
      .argv = {"/bin/sh", "-c", "trap 'echo 2% > \"$1\"' TERM; echo 1% > \"$1\"; "
                                "i=0; while [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done",
               "-", path},
      .environment = {"PATH=/usr/bin:/bin"},
      .kill_after = absl::Milliseconds(300),
      .timeout = absl::Milliseconds(300),
      .progress_path = path,
      .on_progress = [](const TaskProgress& progress) {
        test::SetMachineClockBack(absl::Hours(progress.fraction * 100));
      }};
  const ProgramEnd end = RunProgram(program, std::stop_token());
  test::SetMachineClockBack(absl::ZeroDuration());
  EXPECT_TRUE(end.has_timed_out);
  EXPECT_EQ(end.signal, SIGKILL);
  std::filesystem::remove(path);
}

TEST(ProgramTest, ChildrenThatDoNotObeyAreKilledAfterTheirParentEnded) {
  int held[2];
  ASSERT_EQ(pipe(held), 0);
  Program program = Hanging(held[1], "(trap '' TERM; sleep 302) & ");
  program.timeout = absl::Milliseconds(100);
  const ProgramEnd end = RunProgram(program, std::stop_token());
  EXPECT_EQ(end.signal, SIGTERM);
  close(held[1]);
  EXPECT_EQ(WaitForEndOf(held[0]), 0);
  close(held[0]);
}

TEST(ProgramTest, AProgramThatEndsInTimeHasNotTimedOut) {
  const ProgramEnd end = RunProgram({.argv = {"/bin/true"}, .timeout = absl::Hours(1)},
                                    std::stop_token());
  EXPECT_FALSE(end.has_timed_out);
  EXPECT_EQ(end.exit_code, 0);
}

// The worker as a process of its own, which is killed. The program tells of itself at once: its
// group was once unknown for a moment, and then outlived the worker.
TEST(GroupKeeperTest, WhateverKillsTheWorkerItsProgramsEnd) {
  int held[2];
  ASSERT_EQ(pipe(held), 0);
  int begun[2];
  ASSERT_EQ(pipe(begun), 0);
  const pid_t worker = fork();
  if (worker == 0) {
    GroupKeeper keeper(absl::Milliseconds(100));
    const std::string tell = absl::StrCat("echo > /dev/fd/", begun[1]);
    Program program = Hanging(held[1], absl::StrCat("(trap '' TERM; ", tell, "; sleep 302) & "));
    program.keeper = &keeper;
    RunProgram(program, std::stop_token());
    _exit(0);
  }
  close(held[1]);
  char byte = 0;
  ASSERT_EQ(read(begun[0], &byte, 1), 1);
  kill(worker, SIGKILL);
  EXPECT_EQ(WaitForEndOf(held[0]), 0);
  int status = 0;
  EXPECT_EQ(waitpid(worker, &status, 0), worker);
}

TEST(ProgramTest, ManyMayRunAtOnceAndEachHasTheUsualLimitOfFiles) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit low{.rlim_cur = 200, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  RaiseFileLimit();
  rlimit raised{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, usual.rlim_max);
  EXPECT_EQ(Shell("ulimit -n").output, "200\n");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

TEST(GroupKeeperTest, ItLeavesAloneWhatHasEnded) {
  const pid_t other = fork();
  if (other == 0) {
    setpgid(0, 0);
    pause();
  }
  setpgid(other, other);
  {
    GroupKeeper keeper(absl::ZeroDuration());
    keeper.Began(other);
    keeper.Ended(other);
  }
  kill(other, SIGUSR1);
  int status = 0;
  waitpid(other, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGUSR1) << "it was ended before";
}

TEST(GroupKeeperTest, ItRemovesTheProgramsFiles) {
  std::string folder = testing::TempDir() + "/keeper-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/payload") << "secret";
  { GroupKeeper keeper(absl::ZeroDuration(), folder); }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(ProgramTest, TellsOfItsProgress) {
  const std::string path = testing::TempDir() + "/progress-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::stop_source stop;
  std::vector<double> told;
  const Program program{.argv = {"/bin/sh", "-c", "echo 50% > \"$1\"; exec sleep 1000", "-", path},
                        .environment = {"PATH=/usr/bin:/bin"},
                        .progress_path = path,
                        .on_progress = [&](TaskProgress progress) {
                          told.push_back(progress.fraction);
                          stop.request_stop();
                        }};
  RunProgram(program, stop.get_token());
  EXPECT_EQ(told, std::vector<double>{0.5});
  std::filesystem::remove(path);
}

TEST(ProgramTest, FindsProgramsOnThePath) {
  EXPECT_TRUE(IsRunnable("sh"));
  EXPECT_TRUE(IsRunnable("/bin/sh"));
  EXPECT_FALSE(IsRunnable("no-such-program-anywhere"));
  EXPECT_FALSE(IsRunnable("/etc"));
}

}  // namespace
}  // namespace skiplane::cli
