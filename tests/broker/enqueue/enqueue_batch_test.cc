#include "server/broker/enqueue/enqueue_batch.h"

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

TEST(EnqueueBatchTest, WhatALostCommitMayHaveMadeIsSuspectedInItsStage) {
  auto queue = std::make_shared<model::Queue>();
  queue->lanes = {7};
  queue->settings.stages.resize(2);
  queue->settings.stages[0].name = "first";
  queue->settings.stages[1].name = "second";
  PendingEnqueue call;
  call.queue = queue;
  call.call.tasks.resize(2);
  call.call.tasks[1].stage = "second";
  call.call.tasks[1].priority = -3;
  call.ids = {{7, 1}, {7, 2}};
  store::Enqueued enqueued;
  Suspect(call, enqueued);
  const std::vector<store::UnleasedTasks>& suspected = enqueued.unleased;
  ASSERT_EQ(suspected.size(), 2u);
  EXPECT_EQ(suspected[0].stage, 0);
  EXPECT_EQ(suspected[1].stage, 1);
  EXPECT_EQ(suspected[1].lane, 7);
  EXPECT_EQ(suspected[1].priority, -3);
  EXPECT_TRUE(suspected[1].is_ready);
}

}  // namespace
}  // namespace skiplane::broker
