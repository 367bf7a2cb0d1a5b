// Signals that come while a child is made: they are the parent's alone.
#include "client/cli/work/fork.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "client/cli/base/interrupt.h"
#include "client/cli/work/group_keeper.h"
#include "client/cli/work/program.h"

namespace skiplane::cli {
namespace {

std::atomic<bool> signals_children = false;

// As when a terminal signals its group, in which a new child is at first.
void SignalNewChild() {
  if (!signals_children) return;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) kill(getpid(), number);
}

class ForkTest : public testing::Test {
 protected:
  ForkTest() {
    static const int once = pthread_atfork(nullptr, nullptr, SignalNewChild);
    EXPECT_EQ(once, 0);
    signals_children = true;
  }
  ~ForkTest() override { signals_children = false; }

  Interrupt interrupt_{{.told = 3, .with_hangup = true}};
};

TEST_F(ForkTest, ASignalThatAChildGetsBeforeItsGroupIsNotTheWorkers) {
  const ProgramEnd end = RunProgram({.argv = {"/bin/sh", "-c", "exit 7"}}, std::stop_token());
  EXPECT_FALSE(interrupt_.Wait(absl::ZeroDuration())) << "the worker was told of it";
  EXPECT_EQ(end.signal, 0) << "the program was";
  EXPECT_EQ(end.exit_code, 7);
}

TEST_F(ForkTest, NorIsOneThatItsKeeperGets) {
  { const GroupKeeper keeper(absl::ZeroDuration()); }
  EXPECT_FALSE(interrupt_.Wait(absl::ZeroDuration()));
}

TEST_F(ForkTest, ProgramsBeginWithNoSignalBlocked) {
  const ProgramEnd end =
      RunProgram({.argv = {"/bin/sh", "-c", "kill -TERM $$; exit 7"}}, std::stop_token());
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST_F(ForkTest, TheParentHearsItsSignalsAsBefore) {
  const pid_t child = ForkBlocked();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  raise(SIGTERM);
  EXPECT_TRUE(interrupt_.Wait(absl::InfiniteDuration()));
}

}  // namespace
}  // namespace skiplane::cli
