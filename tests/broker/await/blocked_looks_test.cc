#include "server/broker/await/blocked_looks.h"

#include <atomic>
#include <chrono>
#include <memory>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

class CountingWaiter final : public TaskWaiter {
 public:
  void Look(bool) override { ++looks; }
  std::atomic<int> looks = 0;
};

TEST(BlockedLooksTest, WhoeverCouldNotLookAgainAndAgainLooksOnceWhenThereIsRoom) {
  std::atomic<bool> is_full = true;
  base::Timer timer;
  BlockedLooks blocked(timer, [&is_full] { return is_full.load(); });
  const auto often = std::make_shared<CountingWaiter>();
  const auto last = std::make_shared<CountingWaiter>();
  for (int i = 0; i < 3; ++i) blocked.Add(often);
  blocked.Add(last);
  is_full = false;
  blocked.OnRoom();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (last->looks == 0) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  EXPECT_EQ(often->looks, 1);
  timer.Stop();
}

TEST(BlockedLooksTest, WhoComesWhenThereIsRoomAlreadyLooksSoon) {
  base::Timer timer;
  BlockedLooks blocked(timer, [] { return false; });
  const auto waiter = std::make_shared<CountingWaiter>();
  blocked.Add(waiter);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (waiter->looks == 0) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  timer.Stop();
}

}  // namespace
}  // namespace skiplane::broker
