#include "client/cli/work/program.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"

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

TEST(ProgramTest, FindsProgramsOnThePath) {
  EXPECT_TRUE(IsRunnable("sh"));
  EXPECT_TRUE(IsRunnable("/bin/sh"));
  EXPECT_FALSE(IsRunnable("no-such-program-anywhere"));
  EXPECT_FALSE(IsRunnable("/etc"));
}

}  // namespace
}  // namespace skiplane::cli
