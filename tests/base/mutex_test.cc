#include "server/base/mutex.h"

#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace skiplane::base {
namespace {

TEST(MutexTest, OneThreadAtATimeHoldsTheLock) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20000;
  Mutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kEach);
}

TEST(CondVarTest, WaitUntilSaysFalseWhenTheDeadlinePasses) {
  Mutex mutex;
  CondVar changed;
  MutexLock lock(mutex);
  // A spurious wake-up says true; the next wait then meets the deadline, which has passed.
  const auto deadline = std::chrono::steady_clock::now();
  while (changed.WaitUntil(mutex, deadline)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

TEST(CondVarTest, ANotifiedWaiterHoldsTheLockAgain) {
  Mutex mutex;
  CondVar changed;
  bool is_set = false;
  std::thread other([&] {
    MutexLock lock(mutex);
    is_set = true;
    changed.NotifyAll();
  });
  {
    MutexLock lock(mutex);
    while (!is_set) changed.Wait(mutex);
    EXPECT_TRUE(is_set);
  }
  other.join();
}

}  // namespace
}  // namespace skiplane::base
