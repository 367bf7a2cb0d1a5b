#include "tests/support/process.h"

#include <signal.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skiplane::testing {
namespace {

app::ChildOptions Shell(const std::string& script) {
  app::ChildOptions options;
  options.argv = {"/bin/sh", "-c", script};
  return options;
}

TEST(ProcessTest, ItsExitCodeIsReported) { EXPECT_EQ(Process(Shell("exit 7")).Wait(), 7); }

TEST(ProcessTest, ASignalIsReportedAsShellsDo) {
  Process process(Shell("echo up; cat; exec tail -f /dev/null"));
  ASSERT_TRUE(process.WaitForOutput("up"));
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Wait(), 128 + SIGTERM);
}

TEST(ProcessTest, BothOutputsAreKept) {
  Process process(Shell("echo one; echo two >&2"));
  ASSERT_EQ(process.Wait(), 0);
  ASSERT_TRUE(process.WaitForOutput("two"));
  EXPECT_EQ(process.output(), "one\ntwo\n");
}

TEST(ProcessTest, WaitingForOutputEndsWithTheProcess) {
  EXPECT_FALSE(Process(Shell("echo one")).WaitForOutput("two"));
}

TEST(ProcessTest, TheOutputEndsWhenTheLastOneThatHasItEnds) {
  Process process(Shell("(read line; echo last) <&0 & exit 0"));
  ASSERT_EQ(process.Wait(), 0);
  EXPECT_TRUE(process.WaitForEndOfOutput());
  EXPECT_EQ(process.output(), "last\n");
}

TEST(ProcessTest, WaitingForAFileEndsWithTheProcess) {
  EXPECT_FALSE(Process(Shell("exit 0")).WaitForFile("/nonexistent/ready"));
}

TEST(ProcessTest, AFileIsSeenWhenItHasContent) {
  std::string folder = ::testing::TempDir() + "/ready-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  Process process(Shell("echo x >'" + folder + "/ready'; exec tail -f /dev/null"));
  EXPECT_TRUE(process.WaitForFile(folder + "/ready"));
}

TEST(ProcessTest, AVariableIsHandedOver) {
  app::ChildOptions options = Shell("echo $SKIPLANE_TEST_VALUE");
  options.env = {"SKIPLANE_TEST_VALUE=seen"};
  EXPECT_TRUE(Process(options).WaitForOutput("seen"));
}

TEST(ProcessTest, ItIsKilledWhenTheObjectGoes) {
  pid_t pid = 0;
  {
    Process process(Shell("echo up; exec tail -f /dev/null"));
    ASSERT_TRUE(process.WaitForOutput("up"));
    pid = process.pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

}  // namespace
}  // namespace skiplane::testing
