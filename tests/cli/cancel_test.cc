// What becomes of a program when the broker wants its task back.
#include "client/cli/work/program.h"
#include "client/cli/work/task_program.h"
#include "tests/client/worker_fixture.h"

namespace skiplane::cli {
namespace {

using CancelTest = WorkerTest;

// As skiplane work does it; the shortest lease, so that its heartbeats come soon.
constexpr absl::Duration kLease = absl::Seconds(1);

Result RunSleep(const LeasedTask&, Attempt& attempt) {
  return ResultOf(RunProgram({.argv = {"/bin/sleep", "1000"}}, attempt.stop_token()), {});
}

TEST_F(CancelTest, ACancelledTaskEndsItsProgramAndIsGivenBack) {
  const auto worker = Started(RunSleep, {.lease_duration = kLease});
  broker_.SetState("token-a", v1::LEASE_STATE_CANCEL_REQUESTED);
  broker_.AddTask("a");
  ASSERT_TRUE(IsNacked("token-a"));
  worker->Stop();
  EXPECT_EQ(broker_.nacked.at("token-a").error().type(), "signal 15");
}

TEST_F(CancelTest, ALostLeaseEndsItsProgramAndIsNotSettled) {
  const auto worker = Started(RunSleep, {.lease_duration = kLease});
  broker_.SetState("token-a", v1::LEASE_STATE_LOST);
  broker_.AddTask("a");
  broker_.AddTask("b");  // leased when the program of the other has ended
  broker_.SetState("token-b", v1::LEASE_STATE_CANCEL_REQUESTED);
  ASSERT_TRUE(IsNacked("token-b"));
  worker->Stop();
  EXPECT_EQ(broker_.nacked.count("token-a"), 0u);
  EXPECT_EQ(worker->counts().lost, 1);
}

}  // namespace
}  // namespace skiplane::cli
