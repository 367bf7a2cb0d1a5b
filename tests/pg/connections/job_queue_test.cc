// When a connection would stay idle beside one more job, and whose job is next.
#include "server/pg/connections/job_queue.h"

#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace skiplane::pg {
namespace {

JobQueue::Job AnyJob() {
  return [](const absl::StatusOr<Session*>&) {};
}

// Runs the next one.
void RunNext(JobQueue& jobs) {
  JobQueue::Taken taken = jobs.Take();
  taken.job(nullptr);
  jobs.End(taken);
}

TEST(JobQueue, OneIsSpareIfTwoAreIdleAndNothingWaits) {
  JobQueue jobs(2);
  jobs.BeginIdle();
  EXPECT_FALSE(jobs.HasSpare());
  jobs.BeginIdle();
  EXPECT_TRUE(jobs.HasSpare());
  jobs.EndIdle();
  EXPECT_FALSE(jobs.HasSpare());
}

TEST(JobQueue, AJobThatWaitsTakesAnIdleThread) {
  JobQueue jobs(2);
  jobs.BeginIdle();
  jobs.BeginIdle();
  jobs.Push(AnyJob());
  EXPECT_FALSE(jobs.HasSpare());
  JobQueue::Taken job = jobs.Take();
  EXPECT_TRUE(jobs.HasSpare());
  jobs.PutBack(std::move(job));
  EXPECT_FALSE(jobs.HasSpare());
}

TEST(JobQueue, FirstOnesGoFirstInTheirOwnOrder) {
  std::string order;
  const auto note = [&order](char name) {
    return [&order, name](const absl::StatusOr<Session*>&) { order.push_back(name); };
  };
  JobQueue jobs(2);
  jobs.Push(note('a'));
  jobs.Push(note('u'), {.rank = JobRank::kFirst});
  jobs.Push(note('b'));
  jobs.Push(note('v'), {"some", JobRank::kFirst});
  RunNext(jobs);
  jobs.PutBack({note('w')});
  jobs.Push(note('x'), {.rank = JobRank::kFirst});
  while (jobs.HasNext()) RunNext(jobs);
  EXPECT_EQ(order, "uwvxab");
}

TEST(JobQueue, APartyWithManyJobsWaitsForItself) {
  std::string order;
  const auto note = [&order](char name) {
    return [&order, name](const absl::StatusOr<Session*>&) { order.push_back(name); };
  };
  JobQueue jobs(2);
  for (const char name : {'a', 'b', 'c', 'd'}) jobs.Push(note(name), {"greedy"});
  jobs.Push(note('x'), {"modest"});
  jobs.Push(note('1'));
  jobs.Push(note('2'));
  EXPECT_EQ(jobs.size(), 7);
  for (int i = 0; i < 4; ++i) RunNext(jobs);
  jobs.Push(note('y'), {"modest"});  // anew: behind those that wait
  while (jobs.HasNext()) RunNext(jobs);
  EXPECT_EQ(order, "ax1b2cyd");
}

TEST(JobQueue, ThoseOfTheLastRankWaitUntilNoOtherDoes) {
  std::string order;
  const auto note = [&order](char name) {
    return [&order, name](const absl::StatusOr<Session*>&) { order.push_back(name); };
  };
  JobQueue jobs(2);
  jobs.Push(note('z'), {.rank = JobRank::kLast});
  jobs.Push(note('a'), {"some"});
  jobs.Push(note('b'), {"some"});
  while (jobs.HasNext()) RunNext(jobs);
  EXPECT_EQ(order, "abz");
}

// As if it had taken so long.
void End(JobQueue& jobs, const JobQueue::Taken& taken, std::chrono::milliseconds took) {
  jobs.End(taken, taken.began + took);
}

// Statements of one party took long on every connection: others need one.
TEST(JobQueue, APartyWhoseJobsTakeLongLeavesAThread) {
  JobQueue jobs(3);
  for (int i = 0; i < 7; ++i) jobs.Push(AnyJob(), {"greedy"});
  const JobQueue::Taken first = jobs.Take();
  JobQueue::Taken second = jobs.Take();
  const JobQueue::Taken third = jobs.Take();
  End(jobs, third, kLongJob);
  EXPECT_FALSE(jobs.HasNext());
  EXPECT_TRUE(jobs.HasNext(true)) << "for a pool that stops";
  jobs.Push(AnyJob(), {.party = "late", .rank = JobRank::kLast});
  EXPECT_FALSE(jobs.HasNext()) << "others do wait";
  jobs.Push(AnyJob(), {"modest"});
  ASSERT_TRUE(jobs.HasNext());
  EXPECT_EQ(jobs.Take().party, "modest");
  EXPECT_FALSE(jobs.HasNext());
  End(jobs, first, kLongJob / 2);
  ASSERT_TRUE(jobs.HasNext());
  EXPECT_EQ(jobs.Take().party, "greedy");
  EXPECT_FALSE(jobs.HasNext());
  jobs.PutBack(std::move(second));
  EXPECT_TRUE(jobs.HasNext());
}

TEST(JobQueue, APartyWhoseJobsAreShortMayHaveAllThreads) {
  JobQueue jobs(3);
  for (int i = 0; i < 7; ++i) jobs.Push(AnyJob(), {"alone"});
  for (int i = 0; i < 3; ++i) End(jobs, jobs.Take(), kLongJob / 2);
  for (int i = 0; i < 2; ++i) jobs.Take();
  EXPECT_TRUE(jobs.HasNext());
}

TEST(JobQueue, OfTwoThreadsAPartyMayHaveBoth) {
  JobQueue jobs(2);
  for (int i = 0; i < 3; ++i) jobs.Push(AnyJob(), {"some"});
  End(jobs, jobs.Take(), kLongJob);
  jobs.Take();
  EXPECT_TRUE(jobs.HasNext());
}

}  // namespace
}  // namespace skiplane::pg
