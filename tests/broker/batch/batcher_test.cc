// What a batcher gathers, what it refuses, and when it lets a batch wait. The pool has no database:
// its jobs run nevertheless, with the reason why.
#include "server/broker/batch/batcher.h"

#include <future>
#include <latch>

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;

constexpr std::chrono::minutes kGenerous(1);

// Batches as they were run. A batch may be held back.
class BatcherTest : public ::testing::Test {
 protected:
  std::unique_ptr<Batcher<int>> Make(BatchLimits limits) {
    return std::make_unique<Batcher<int>>(
        pool_, limits,
        [this](const absl::StatusOr<pg::Session*>&, std::vector<int> items) {
          base::MutexLock lock(mutex_);
          while (is_held_) changed_.Wait(mutex_);
          batches_.push_back(std::move(items));
          changed_.NotifyAll();
        },
        &timer_);
  }
  void Hold(bool held) {
    base::MutexLock lock(mutex_);
    is_held_ = held;
    changed_.NotifyAll();
  }
  std::vector<std::vector<int>> WaitForBatches(size_t count) {
    base::MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + kGenerous;
    while (batches_.size() < count && changed_.WaitUntil(mutex_, deadline)) continue;
    return batches_;
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::vector<int>> batches_ ABSL_GUARDED_BY(mutex_);
  pg::ConnectOptions nowhere_{.uri = "postgresql:///none?host=/nonexistent"};
  pg::Pool pool_{nowhere_, 2, nullptr, [](bool) {}};
  base::Timer timer_;
};

TEST_F(BatcherTest, RefusesMoreRowsThanMayWait) {
  const auto batcher = Make({.pending_rows_max = 5});
  Hold(true);
  EXPECT_TRUE(batcher->Add(1, 5, 0));
  bool is_refused = false;  // as long as the first is not taken it waits, too
  for (int i = 2; i < 20 && !is_refused; ++i) is_refused = !batcher->Add(int{i}, 3, 0);
  EXPECT_TRUE(is_refused);
  Hold(false);
  pool_.Stop();
}

TEST_F(BatcherTest, RefusesMoreBytesThanMayWait) {
  const auto batcher = Make({.pending_bytes_max = 100});
  Hold(true);
  EXPECT_FALSE(batcher->Add(1, 1, 101));
  EXPECT_TRUE(batcher->Add(2, 1, 100));
  bool is_refused = false;
  for (int i = 3; i < 20 && !is_refused; ++i) is_refused = !batcher->Add(int{i}, 1, 60);
  EXPECT_TRUE(is_refused);
  Hold(false);
  pool_.Stop();
}

TEST_F(BatcherTest, ABatchKeepsToItsRows) {
  const auto batcher = Make({.rows_max = 4});
  Hold(true);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(batcher->Add(int{i}, 3, 0));
  Hold(false);
  EXPECT_THAT(WaitForBatches(3), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  pool_.Stop();
}

TEST_F(BatcherTest, APaceKeepsTheSecondBatchBackUntilItEnds) {
  const auto batcher = Make({.min_interval = std::chrono::hours(1)});
  ASSERT_TRUE(batcher->Add(1, 1, 0));
  EXPECT_THAT(WaitForBatches(1), ElementsAre(ElementsAre(1)));
  ASSERT_TRUE(batcher->Add(2, 1, 0));
  ASSERT_TRUE(batcher->Add(3, 1, 0));
  EXPECT_THAT(WaitForBatches(1), ElementsAre(ElementsAre(1)));
  batcher->EndMinInterval();
  EXPECT_THAT(WaitForBatches(2), ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
  timer_.Stop();
  pool_.Stop();
}

TEST_F(BatcherTest, AFullBatchDoesNotWaitForItsPace) {
  const auto batcher = Make({.rows_max = 2, .min_interval = std::chrono::hours(1)});
  ASSERT_TRUE(batcher->Add(1, 1, 0));
  WaitForBatches(1);
  ASSERT_TRUE(batcher->Add(2, 1, 0));
  ASSERT_TRUE(batcher->Add(3, 1, 0));
  EXPECT_THAT(WaitForBatches(2), ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
  timer_.Stop();
  pool_.Stop();
}

TEST_F(BatcherTest, APacedBatchGoesWhenItsTimeHasCome) {
  const auto batcher = Make({.min_interval = std::chrono::milliseconds(20)});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(batcher->Add(int{i}, 1, 0));
    ASSERT_EQ(WaitForBatches(static_cast<size_t>(i) + 1).size(), static_cast<size_t>(i) + 1);
  }
  timer_.Stop();
  pool_.Stop();
}

}  // namespace
}  // namespace skiplane::broker
