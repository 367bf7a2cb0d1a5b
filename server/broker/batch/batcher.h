// Gathers what concurrent calls bring into batches, without any added wait.
//
// The first item goes to the pool at once; what arrives while its statement runs forms the next
// batch. A second batch runs beside the first only when many rows wait and a connection stays idle
// for others, so that a loaded broker keeps two busy and an idle one answers in one commit. Where a
// delay is harmless, a least interval keeps two batches apart, which makes the second one larger.
// Thread-safe.
//
//   Batcher<Item> batcher(pool, {}, [](absl::StatusOr<pg::Session*> session,
//                                      std::vector<Item> items) { … answer every item … });
//   if (!batcher.Add(std::move(item), rows, bytes)) … refuse: too much waits …
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/broker/batch/min_interval.h"
#include "server/model/limits.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

// How much a batch gathers, and how much may wait for it.
struct BatchLimits {
  int64_t rows_max = model::kBatchRowsMax;
  int64_t bytes_max = model::kBatchBytesMax;
  int64_t pending_rows_max = model::kPendingRowsMax;
  int64_t pending_bytes_max = model::kPendingBytesMax;
  int64_t second_batch_rows = 128;  // that wait before a second batch starts beside the first
  std::chrono::milliseconds min_interval{0};  // between two starts, unless a batch is full
  bool is_urgent = false;  // before what others have brought to the pool
};

template <typename Item>
class Batcher {
 public:
  // Gets the pool's session or the reason why there is none, and answers every item.
  using Run = absl::AnyInvocable<void(absl::StatusOr<pg::Session*>, std::vector<Item>) const>;

  // `timer` stops before the batcher goes; it may be null without a least interval.
  Batcher(pg::Pool& pool, BatchLimits limits, Run run, base::Timer* timer = nullptr)
      : pool_(pool),
        limits_(limits),
        run_(std::move(run)),
        min_interval_(limits.min_interval, timer, [this] { Resume(&MinInterval::Awoke); }) {}

  // Returns false, and leaves `item` as it was, when too much waits already.
  bool Add(Item&& item, int64_t rows, int64_t bytes) {
    bool start = false;
    {
      base::MutexLock lock(mutex_);
      if (pending_rows_ + rows > limits_.pending_rows_max) return false;
      if (pending_bytes_ + bytes > limits_.pending_bytes_max) return false;
      pending_.push_back({std::move(item), rows, bytes});
      pending_rows_ += rows;
      pending_bytes_ += bytes;
      start = MayStart();
    }
    if (start) Submit();
    return true;
  }

  // What waits goes now, and so does all that comes later. For a timer that has stopped.
  void EndMinInterval() { Resume(&MinInterval::End); }

 private:
  struct Entry {
    Item item;
    int64_t rows;
    int64_t bytes;
  };

  // Counts the batch as running if it may start now.
  bool MayStart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (pending_.empty()) return false;
    if (running_ >= 2) return false;
    if (running_ == 1 && pending_rows_ < limits_.second_batch_rows) return false;
    if (running_ == 1 && !pool_.HasSpare()) return false;
    if (pending_rows_ < limits_.rows_max && !min_interval_.Allows()) return false;
    ++running_;
    return true;
  }

  // What waits starts if it may by now.
  void Resume(void (MinInterval::*change)()) {
    bool start = false;
    {
      base::MutexLock lock(mutex_);
      (min_interval_.*change)();
      start = MayStart();
    }
    if (start) Submit();
  }

  void Submit() {
    auto run = [this](absl::StatusOr<pg::Session*> session) {
      std::vector<Item> items = Take();
      if (!items.empty()) run_(std::move(session), std::move(items));
      bool again = false;
      {
        base::MutexLock lock(mutex_);
        --running_;
        again = MayStart();
      }
      if (again) Submit();
    };
    pool_.Submit(std::move(run), limits_.is_urgent);
  }

  // At least one item, more while they fit.
  std::vector<Item> Take() {
    base::MutexLock lock(mutex_);
    std::vector<Item> items;
    int64_t rows = 0;
    int64_t bytes = 0;
    while (!pending_.empty()) {
      Entry& next = pending_.front();
      if (!items.empty() &&
          (rows + next.rows > limits_.rows_max || bytes + next.bytes > limits_.bytes_max)) {
        break;
      }
      rows += next.rows;
      bytes += next.bytes;
      items.push_back(std::move(next.item));
      pending_.pop_front();
    }
    pending_rows_ -= rows;
    pending_bytes_ -= bytes;
    return items;
  }

  pg::Pool& pool_;
  const BatchLimits limits_;
  const Run run_;
  base::Mutex mutex_;
  std::deque<Entry> pending_ ABSL_GUARDED_BY(mutex_);
  int64_t pending_rows_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  MinInterval min_interval_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
