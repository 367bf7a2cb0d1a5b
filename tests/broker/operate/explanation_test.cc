#include "server/broker/operate/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Explanation Of(model::TaskState state) {
  Explanation why;
  why.task.state = state;
  why.task.schedule_time = absl::FromUnixSeconds(0);
  return why;
}

TEST(ExplanationTest, AReadyTaskNamesAllThatKeepsItWaiting) {
  Explanation why = Of(model::TaskState::kReady);
  why.ahead = 1;
  why.busy_workers = 2;
  model::Queue queue;
  queue.name = "mail";
  queue.pause = model::PauseMode::kBoth;
  queue.pause_reason = "maintenance";
  Explain(queue, std::nullopt, &why);
  EXPECT_THAT(why.reasons, ElementsAre(WaitReason::kQueuePaused, WaitReason::kWorkersBusy,
                                       WaitReason::kBehindOthers));
  EXPECT_EQ(why.text,
            "leases of queue \"mail\" are paused: maintenance; "
            "all 2 workers of its queue and stage are busy; 1 task is before it");
}

TEST(ExplanationTest, NothingIsInTheWayOfATaskThatAWorkerWaitsFor) {
  Explanation why = Of(model::TaskState::kReady);
  why.waiting_leases = 1;
  Explain({}, std::nullopt, &why);
  EXPECT_THAT(why.reasons, ElementsAre(WaitReason::kNone));
}

TEST(ExplanationTest, TasksAreCountedToABound) {
  Explanation why = Of(model::TaskState::kReady);
  why.waiting_leases = 1;
  why.ahead = 10001;
  Explain({}, std::nullopt, &why);
  EXPECT_EQ(why.text, "more than 10000 tasks are before it");
}

TEST(ExplanationTest, AScheduledTaskTellsItsTimeAndAStepOfTheClock) {
  Explanation why = Of(model::TaskState::kScheduled);
  const store::ClockStep step{absl::FromUnixSeconds(60), absl::FromUnixSeconds(0), true};
  Explain({}, step, &why);
  EXPECT_THAT(why.reasons, ElementsAre(WaitReason::kScheduled));
  EXPECT_THAT(why.text, HasSubstr("its time comes at 1970-01-01 00:00:00 UTC"));
  EXPECT_THAT(why.text, HasSubstr("clock went back by 1m"));
}

}  // namespace
}  // namespace skiplane::broker
