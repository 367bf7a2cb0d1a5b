#include "client/cli/source/batcher.h"

#include <gtest/gtest.h>

#include <vector>

namespace skiplane::cli {
namespace {

std::vector<v1::EnqueueRequest> Batches(size_t size, const std::vector<size_t>& payload_bytes) {
  Batcher batcher("mail", "run", size);
  std::vector<v1::EnqueueRequest> batches;
  for (const size_t bytes : payload_bytes) {
    v1::NewTask task;
    task.set_payload(std::string(bytes, 'x'));
    if (auto full = batcher.Add(std::move(task))) batches.push_back(*std::move(full));
  }
  if (auto rest = batcher.End()) batches.push_back(*std::move(rest));
  EXPECT_FALSE(batcher.End());
  return batches;
}

TEST(BatcherTest, EachBatchIsNamedAfterItsFirstPosition) {
  const auto batches = Batches(2, {1, 1, 1, 1, 1});
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].request_id(), "run/0");
  EXPECT_EQ(batches[1].request_id(), "run/2");
  EXPECT_EQ(batches[2].request_id(), "run/4");
  EXPECT_EQ(batches[2].tasks_size(), 1);
  EXPECT_EQ(batches[2].queue(), "mail");
}

TEST(BatcherTest, ARequestFitsItsLimitAndALargeTaskGoesAlone) {
  const auto batches = Batches(1000, {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20});
  ASSERT_EQ(batches.size(), 3u);
  for (const auto& batch : batches) EXPECT_LT(batch.ByteSizeLong(), 4u << 20);
}

TEST(BatcherTest, NothingMakesNoBatch) { EXPECT_TRUE(Batches(10, {}).empty()); }

}  // namespace
}  // namespace skiplane::cli
