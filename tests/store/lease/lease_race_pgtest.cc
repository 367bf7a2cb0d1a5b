// Several sessions lease from one lane at the same time.
#include <algorithm>
#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"

namespace skiplane::store {
namespace {

using testing::Required;

class LeaseRaceTest : public testing::StoreHarness {
 protected:
  // Leases in batches of `batch` until `total` tasks went to somebody, or too many calls were made.
  std::vector<int64_t> Drain(int batch, int64_t total, uint8_t worker,
                             std::atomic<int64_t>& taken) {
    const auto session = Open();
    std::vector<int64_t> ids;
    for (int calls = 0; taken < total && calls < 20'000; ++calls) {
      LeaseDemand demand;
      demand.lane = lane_;
      demand.bounds = {{0}, {1}};
      demand.slots.assign(static_cast<size_t>(batch), 1);
      demand.callers = {{testing::UuidOf(worker), 1 << 30, model::NewSessionId(), ""}};
      const std::vector<LeasedRow> rows = Required(Lease(*session, demand)).rows;
      EXPECT_LE(rows.size(), static_cast<size_t>(batch));
      for (const int64_t id : testing::IdsOf(rows)) ids.push_back(id);
      taken += static_cast<int64_t>(rows.size());
    }
    return ids;
  }
};

TEST_F(LeaseRaceTest, NoTaskIsLeasedTwice) {
  constexpr int kHalf = 1000;
  Put(kHalf, testing::TaskWithPriority(0));
  Put(kHalf, testing::TaskWithPriority(1));
  std::atomic<int64_t> taken = 0;
  std::vector<int64_t> ids[4];
  std::vector<std::thread> threads;
  for (uint8_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { ids[i] = Drain(7 + i, 2 * kHalf, i, taken); });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int64_t> all;
  for (const auto& some : ids) all.insert(all.end(), some.begin(), some.end());
  EXPECT_EQ(all.size(), 2u * kHalf);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 2 AND attempt = 1"),
            2 * kHalf);
  EXPECT_EQ(Number("SELECT sum(cardinality(tasks)) FROM skiplane.lease_ledger"), 2 * kHalf);
}

}  // namespace
}  // namespace skiplane::store
