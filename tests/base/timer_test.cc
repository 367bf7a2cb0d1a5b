#include "server/base/timer.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skiplane::base {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;

constexpr std::chrono::seconds kGenerous(30);

SteadyTime Past() { return steady_clock::now() - hours(1); }

// Something to wait for.
class Signal {
 public:
  void Send() { sent_.set_value(); }
  [[nodiscard]] bool Arrives() {
    return future_.wait_for(kGenerous) == std::future_status::ready;
  }
  [[nodiscard]] bool HasArrived() const {
    return future_.wait_for(nanoseconds(0)) == std::future_status::ready;
  }

 private:
  std::promise<void> sent_;
  std::future<void> future_ = sent_.get_future();
};

// Keeps the timer's thread busy until released, so that entries pile up.
class Blocker {
 public:
  explicit Blocker(Timer& timer) {
    timer.At(Past(), [this] {
      running_.Send();
      released_.get_future().wait();
    });
    EXPECT_TRUE(running_.Arrives());
  }
  ~Blocker() { Release(); }
  void Release() {
    if (!std::exchange(is_released_, true)) released_.set_value();
  }

 private:
  Signal running_;
  std::promise<void> released_;
  bool is_released_ = false;
};

// Calls a function when the last owner goes.
struct AtDestruction {
  explicit AtDestruction(std::function<void()> call) : function(std::move(call)) {}
  ~AtDestruction() { function(); }
  AtDestruction(const AtDestruction&) = delete;
  AtDestruction& operator=(const AtDestruction&) = delete;
  std::function<void()> function;
};

TEST(TimerTest, AFunctionWhoseTimeHasPassedRuns) {
  Signal ran;
  Timer timer;
  EXPECT_NE(timer.At(Past(), [&ran] { ran.Send(); }), 0U);
  EXPECT_TRUE(ran.Arrives());
}

TEST(TimerTest, AFunctionNeverRunsBeforeItsTime) {
  std::promise<SteadyTime> ran_at;
  Timer timer;
  const SteadyTime due = steady_clock::now() + milliseconds(20);
  timer.At(due, [&ran_at] { ran_at.set_value(steady_clock::now()); });
  EXPECT_GE(ran_at.get_future().get(), due);
}

TEST(TimerTest, AnEarlierEntryOvertakesTheOneTheThreadWaitsFor) {
  Signal early;
  Timer timer;
  timer.After(hours(1), [] {});
  timer.After(milliseconds(1), [&early] { early.Send(); });
  EXPECT_TRUE(early.Arrives());
}

TEST(TimerTest, EntriesRunInTheOrderOfTheirTimesAndThenOfInsertion) {
  std::vector<int> order;
  Signal last;
  Timer timer;
  Blocker blocker(timer);
  const SteadyTime time = Past();
  timer.At(time + milliseconds(2), [&order] { order.push_back(4); });
  timer.At(time, [&order] { order.push_back(1); });
  timer.At(time, [&order] { order.push_back(2); });
  timer.At(time, [&order] { order.push_back(3); });
  timer.At(time + milliseconds(3), [&last] { last.Send(); });
  blocker.Release();
  ASSERT_TRUE(last.Arrives());
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
}

TEST(TimerTest, ADelayBeyondTheEndOfTimeDoesNotWrapIntoThePast) {
  Signal ran;
  Timer timer;
  Blocker blocker(timer);
  const Timer::Id id = timer.After(nanoseconds::max(), [] { ADD_FAILURE() << "ran"; });
  timer.At(steady_clock::now(), [&ran] { ran.Send(); });
  blocker.Release();
  ASSERT_TRUE(ran.Arrives());
  EXPECT_TRUE(timer.Cancel(id));
}

TEST(TimerTest, ACancelledFunctionNeverRuns) {
  Signal later;
  bool ran = false;
  Timer timer;
  Blocker blocker(timer);
  const Timer::Id id = timer.At(Past(), [&ran] { ran = true; });
  timer.At(steady_clock::now(), [&later] { later.Send(); });
  EXPECT_TRUE(timer.Cancel(id));
  blocker.Release();
  ASSERT_TRUE(later.Arrives());
  EXPECT_FALSE(ran);
}

TEST(TimerTest, CancelSaysFalseForWhatHasStartedAndForTheUnknown) {
  Signal running;
  std::promise<void> release;
  Timer timer;
  const Timer::Id id = timer.At(Past(), [&] {
    running.Send();
    release.get_future().wait();
  });
  ASSERT_TRUE(running.Arrives());
  EXPECT_FALSE(timer.Cancel(id));
  EXPECT_FALSE(timer.Cancel(id + 1));
  EXPECT_FALSE(timer.Cancel(0));
  release.set_value();
}

TEST(TimerTest, CancellingTwiceSaysTrueOnce) {
  Timer timer;
  const Timer::Id id = timer.After(hours(1), [] {});
  EXPECT_TRUE(timer.Cancel(id));
  EXPECT_FALSE(timer.Cancel(id));
}

TEST(TimerTest, ACancelledFunctionMayCallTheTimerFromItsDestructor) {
  Signal destroyed;
  Timer timer;
  auto held = std::make_shared<AtDestruction>([&] {
    timer.Cancel(timer.After(hours(1), [] {}));
    destroyed.Send();
  });
  const Timer::Id id = timer.After(hours(1), [held] {});
  held.reset();
  // On a thread of its own: a deadlock fails the test instead of hanging it.
  std::thread canceller([&timer, id] { timer.Cancel(id); });
  ASSERT_TRUE(destroyed.Arrives());
  canceller.join();
}

TEST(TimerTest, AFunctionMayAddAndCancelEntries) {
  Signal ran;
  Timer timer;
  timer.At(Past(), [&] {
    EXPECT_TRUE(timer.Cancel(timer.After(hours(1), [] {})));
    timer.At(Past(), [&ran] { ran.Send(); });
  });
  EXPECT_TRUE(ran.Arrives());
}

TEST(TimerTest, AFunctionIsDestroyedBeforeTheThreadWaitsAgain) {
  Signal destroyed;
  Timer timer;
  auto held = std::make_shared<AtDestruction>([&destroyed] { destroyed.Send(); });
  timer.At(Past(), [held] {});
  held.reset();
  EXPECT_TRUE(destroyed.Arrives());
}

TEST(TimerTest, StopWaitsForTheRunningFunctionAndDropsTheRest) {
  bool finished = false;
  bool dropped_ran = false;
  Signal running;
  Timer timer;
  timer.At(Past(), [&] {
    running.Send();
    std::this_thread::yield();
    finished = true;
  });
  timer.After(hours(1), [&dropped_ran] { dropped_ran = true; });
  ASSERT_TRUE(running.Arrives());
  timer.Stop();
  EXPECT_TRUE(finished);
  EXPECT_FALSE(dropped_ran);
}

TEST(TimerTest, StopMayBeCalledTwiceAndByTwoThreads) {
  Timer timer;
  std::thread other([&timer] { timer.Stop(); });
  timer.Stop();
  other.join();
  timer.Stop();
}

TEST(TimerTest, NothingRunsAfterStop) {
  Timer timer;
  const Timer::Id before = timer.After(hours(1), [] {});
  timer.Stop();
  const Timer::Id after = timer.At(Past(), [] { ADD_FAILURE() << "ran"; });
  EXPECT_NE(before, after);
  EXPECT_TRUE(timer.Cancel(before));
  EXPECT_TRUE(timer.Cancel(after));
}

TEST(TimerTest, ADroppedFunctionMayCallTheTimerFromItsDestructor) {
  Signal destroyed;
  Timer timer;
  auto held = std::make_shared<AtDestruction>([&] {
    timer.Stop();
    timer.After(hours(1), [] {});
    destroyed.Send();
  });
  timer.After(hours(1), [held] {});
  held.reset();
  std::thread stopper([&timer] { timer.Stop(); });
  ASSERT_TRUE(destroyed.Arrives());
  stopper.join();
}

TEST(TimerTest, TensOfThousandsOfEntriesFromManyThreadsEachRunOrCancelExactlyOnce) {
  constexpr int kThreads = 4;
  constexpr int kEach = 10000;
  std::atomic<int> ran = 0;
  std::atomic<int> cancelled = 0;
  {
    Timer timer;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) {
          const Timer::Id id = timer.After(milliseconds(i % 3), [&ran] { ++ran; });
          if (i % 2 == 0 && timer.Cancel(id)) ++cancelled;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    Signal last;
    timer.After(milliseconds(3), [&last] { last.Send(); });
    ASSERT_TRUE(last.Arrives());
  }
  EXPECT_EQ(ran + cancelled, kThreads * kEach);
}

}  // namespace
}  // namespace skiplane::base
