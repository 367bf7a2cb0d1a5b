// When a connection would stay idle beside one more job.
#include "server/pg/connections/job_queue.h"

#include <string>

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

TEST(JobQueue, UrgentOnesGoFirstInTheirOwnOrder) {
  std::string order;
  const auto note = [&order](char name) {
    return [&order, name](const absl::StatusOr<Session*>&) { order.push_back(name); };
  };
  JobQueue jobs;
  jobs.Push(note('a'));
  jobs.Push(note('u'), {.is_urgent = true});
  jobs.Push(note('b'));
  jobs.Push(note('v'), {"some", true});
  jobs.Take()(nullptr);
  jobs.PutBack(note('w'));
  jobs.Push(note('x'), {.is_urgent = true});
  while (!jobs.empty()) jobs.Take()(nullptr);
  EXPECT_EQ(order, "uwvxab");
}

TEST(JobQueue, APartyWithManyJobsWaitsForItself) {
  std::string order;
  const auto note = [&order](char name) {
    return [&order, name](const absl::StatusOr<Session*>&) { order.push_back(name); };
  };
  JobQueue jobs;
  for (const char name : {'a', 'b', 'c', 'd'}) jobs.Push(note(name), {"greedy"});
  jobs.Push(note('x'), {"modest"});
  jobs.Push(note('1'));
  jobs.Push(note('2'));
  EXPECT_EQ(jobs.size(), 7u);
  for (int i = 0; i < 4; ++i) jobs.Take()(nullptr);
  jobs.Push(note('y'), {"modest"});  // anew: behind those that wait
  while (!jobs.empty()) jobs.Take()(nullptr);
  EXPECT_EQ(order, "ax1b2cyd");
}

}  // namespace
}  // namespace skiplane::pg
