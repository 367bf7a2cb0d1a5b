// A worker that is stopped while its handler runs: by the handler, as all is on one thread.
#include <functional>
#include <stop_token>

#include "tests/client/testing/fixture.h"

namespace skiplane {
namespace {

class StopTest : public InMemoryTest {
 protected:
  // Runs the first of two tasks: `stop` is called by its handler, which returns `result` then.
  void Run(const std::function<void()>& stop, const Result& result,
           absl::Duration grace = absl::Seconds(10)) {
    first_ = Put({});
    second_ = Put({});
    worker_ = Started(
        [this, stop, result](const LeasedTask&, Attempt& attempt) {
          stop();
          was_asked_ = attempt.stop_token().stop_requested();
          return result;
        },
        {.stop_grace = grace});
    EXPECT_EQ(broker_.RunUntilIdle(), 1);
    EXPECT_EQ(Seen(second_).state, TaskState::kReady);
    EXPECT_EQ(Seen(second_).attempt_count, 0);
  }

  std::unique_ptr<RunningWorker> worker_;
  std::string first_;
  std::string second_;
  bool was_asked_ = false;
};

TEST_F(StopTest, ByItsHandlerNothingMoreRuns) {
  Run([this] { worker_->Stop(); }, Result::Done());
  EXPECT_FALSE(was_asked_);
  EXPECT_EQ(Seen(first_).state, TaskState::kSucceeded);
  EXPECT_EQ(worker_->counts().done, 1);
  EXPECT_TRUE(absl::IsCancelled(worker_->WaitForEnd()));
}

TEST_F(StopTest, WithinItsGraceAFailureCounts) {
  Run(
      [this] {
        worker_->Stop();
        broker_.Advance(absl::Seconds(9));
      },
      Result::Retry({.type = "Oh"}));
  EXPECT_FALSE(was_asked_);
  EXPECT_EQ(Seen(first_).state, TaskState::kScheduled);
  EXPECT_EQ(worker_->counts().retried, 1);
}

TEST_F(StopTest, AfterItsGraceTheHandlerIsAskedAndItsTaskReleased) {
  Run(
      [this] {
        worker_->Stop();
        broker_.Advance(absl::Seconds(10));
        worker_->Stop();
      },
      Result::Retry({.type = "Oh"}));
  EXPECT_TRUE(was_asked_);
  EXPECT_EQ(Seen(first_).state, TaskState::kReady);
  EXPECT_EQ(Seen(first_).attempt_count, 0);
  EXPECT_EQ(worker_->counts().released, 1);
}

TEST_F(StopTest, AfterItsGraceWhatIsDoneIsDone) {
  Run([this] { worker_->Stop(); }, Result::Done(), absl::ZeroDuration());
  EXPECT_TRUE(was_asked_);
  EXPECT_EQ(Seen(first_).state, TaskState::kSucceeded);
}

TEST_F(StopTest, TheGraceCanBeEndedBeforeAndAfter) {
  Run(
      [this] {
        worker_->EndGrace();
        worker_->Stop();
      },
      Result::Fail({.type = "Oh"}));
  EXPECT_TRUE(was_asked_);
  EXPECT_EQ(Seen(first_).state, TaskState::kReady);
}

TEST_F(StopTest, AHandlerMayDestroyItsWorker) {
  Run([this] { worker_.reset(); }, Result::Done());
  EXPECT_EQ(Seen(first_).state, TaskState::kSucceeded);
}

TEST_F(StopTest, WhatTheHandlerRegisteredMayCallTheBroker) {
  Put({});
  worker_ = Started(
      [this](const LeasedTask&, Attempt& attempt) {
        const std::stop_callback enqueue(attempt.stop_token(), [this] { Put({}); });
        worker_->EndGrace();
        worker_->Stop();
        return Result::Done();
      });
  EXPECT_EQ(broker_.RunUntilIdle(), 1);
  EXPECT_EQ(broker_.Tasks("q").size(), 2u);
}

}  // namespace
}  // namespace skiplane
