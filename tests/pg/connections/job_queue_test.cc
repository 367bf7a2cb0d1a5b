// When a connection would stay idle beside one more job.
#include "server/pg/connections/job_queue.h"

#include <gtest/gtest.h>

namespace skiplane::pg {
namespace {

JobQueue::Job AnyJob() {
  return [](const absl::StatusOr<Session*>&) {};
}

TEST(JobQueue, OneIsSpareIfTwoAreIdleAndNothingWaits) {
  JobQueue jobs;
  jobs.BeginIdle();
  EXPECT_FALSE(jobs.HasSpare());
  jobs.BeginIdle();
  EXPECT_TRUE(jobs.HasSpare());
  jobs.EndIdle();
  EXPECT_FALSE(jobs.HasSpare());
}

TEST(JobQueue, AJobThatWaitsTakesAnIdleThread) {
  JobQueue jobs;
  jobs.BeginIdle();
  jobs.BeginIdle();
  jobs.Push(AnyJob());
  EXPECT_FALSE(jobs.HasSpare());
  JobQueue::Job job = jobs.Take();
  EXPECT_TRUE(jobs.HasSpare());
  jobs.PutBack(std::move(job));
  EXPECT_FALSE(jobs.HasSpare());
}

}  // namespace
}  // namespace skiplane::pg
