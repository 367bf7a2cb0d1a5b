#include "server/broker/await/blocked_looks.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

class CountingWaiter final : public TaskWaiter {
 public:
  explicit CountingWaiter(std::string party = "") : party_(std::move(party)) {}
  const std::string& party() const override { return party_; }
  void Look(bool) override { ++looks; }
  std::atomic<int> looks = 0;

 private:
  const std::string party_;
};

TEST(BlockedLooksTest, WhoeverCouldNotLookAgainAndAgainLooksOnceWhenThereIsRoom) {
  std::atomic<bool> is_full = true;
  base::Timer timer;
  BlockedLooks blocked(timer, [&is_full](const std::string&) { return is_full.load(); });
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
  BlockedLooks blocked(timer, [](const std::string&) { return false; });
  const auto waiter = std::make_shared<CountingWaiter>();
  blocked.Add(waiter);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (waiter->looks == 0) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  timer.Stop();
}

// They would find no room: those of others do not wait for them.
TEST(BlockedLooksTest, ThoseOfAPartyWithoutRoomArePassedBy) {
  std::atomic<bool> is_greedy_full = true;
  base::Timer timer;
  BlockedLooks blocked(timer, [&](const std::string& party) {
    return party == "greedy" && is_greedy_full;
  });
  std::vector<std::shared_ptr<CountingWaiter>> greedy(100);
  for (auto& waiter : greedy) blocked.Add(waiter = std::make_shared<CountingWaiter>("greedy"));
  const auto other = std::make_shared<CountingWaiter>("other");
  blocked.Add(other);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (other->looks == 0) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  for (const auto& waiter : greedy) EXPECT_EQ(waiter->looks, 0);
  is_greedy_full = false;
  blocked.OnRoom();
  for (const auto& waiter : greedy) {
    while (waiter->looks == 0) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
  }
  timer.Stop();
}

}  // namespace
}  // namespace skiplane::broker
