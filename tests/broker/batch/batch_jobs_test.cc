#include "server/broker/batch/batch_jobs.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

TEST(BatchJobs, WhoeverHasItsTurnFirstRunsTheBatch) {
  BatchJobs jobs;
  jobs.Begin("greedy");
  EXPECT_TRUE(jobs.Join("modest"));
  EXPECT_FALSE(jobs.Join("modest")) << "it waits already";
  EXPECT_FALSE(jobs.Join("greedy"));
  EXPECT_TRUE(jobs.Take("modest"));
  EXPECT_FALSE(jobs.Take("greedy")) << "nothing is left to do";
}

TEST(BatchJobs, ABatchThatRunsIsJoinedByNobody) {
  BatchJobs jobs;
  EXPECT_FALSE(jobs.Join("early"));
  jobs.Begin("one");
  EXPECT_TRUE(jobs.Take("one"));
  EXPECT_FALSE(jobs.Join("late"));
}

TEST(BatchJobs, AJobThatIsLeftOverRunsTheNextBatch) {
  BatchJobs jobs;
  jobs.Begin("a");
  EXPECT_TRUE(jobs.Join("b"));
  EXPECT_TRUE(jobs.Take("b"));
  jobs.Begin("c");
  EXPECT_FALSE(jobs.Join("a")) << "its job of before still waits";
  EXPECT_TRUE(jobs.Take("a"));
  EXPECT_FALSE(jobs.Take("c"));
}

TEST(BatchJobs, TwoBatchesNeedTwoTurns) {
  BatchJobs jobs;
  jobs.Begin("a");
  jobs.Begin("a");
  EXPECT_TRUE(jobs.Take("a"));
  EXPECT_TRUE(jobs.Take("a"));
  EXPECT_FALSE(jobs.Take("a"));
}

TEST(BatchJobs, FewPartiesJoin) {
  BatchJobs jobs;
  jobs.Begin("first");
  int joined = 0;
  for (int i = 0; i < 100; ++i) joined += jobs.Join(std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(joined, 7);
}

}  // namespace
}  // namespace skiplane::broker
