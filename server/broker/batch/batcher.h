// Gathers what concurrent calls bring into batches, without any added wait.
//
// The first item goes to the pool at once; what arrives while its statement runs forms the next
// batch. A second batch runs beside the first only when many rows wait and a connection stays idle
// for others, so that a loaded broker keeps two busy and an idle one answers in one commit. Where a
// delay is harmless, a least interval keeps two batches apart, which makes the second one larger.
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/broker/batch/batch_limits.h"
#include "server/broker/batch/min_interval.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

template <typename Item>
class Batcher {
 public:
  // Gets the pool's session or the reason why there is none, and answers every item.
  using Run = absl::AnyInvocable<void(absl::StatusOr<pg::Session*>, std::vector<Item>) const>;
  // Whose turn at the pool it takes to run a batch that begins with this item.
  using PartyOf = const std::string& (*)(const Item&);

  // `timer` stops before the batcher goes; it may be null without a least interval. Without
  // `party_of` the pool runs the batches as the broker's own: each is of many parties.
  Batcher(pg::Pool& pool, BatchLimits limits, Run run, base::Timer* timer = nullptr,
          PartyOf party_of = nullptr)
      : pool_(pool),
        limits_(limits),
        run_(std::move(run)),
        party_of_(party_of),
        min_interval_(limits.min_interval, timer, [this] { Resume(&MinInterval::Awoke); }) {}

  // Returns false, and leaves `item` as it was, when too much waits already.
  bool Add(Item&& item, int64_t rows, int64_t bytes) {
    std::optional<pg::JobOrder> start;
    {
      base::MutexLock lock(mutex_);
      if (pending_rows_ + rows > limits_.pending_rows_max ||
          pending_bytes_ + bytes > limits_.pending_bytes_max) {
        return false;
      }
      pending_.push_back({std::move(item), rows, bytes});
      pending_rows_ += rows;
      pending_bytes_ += bytes;
      start = Start();
    }
    Submit(start);
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

  // How the next batch waits, which counts as running from now on; nothing if none may start.
  std::optional<pg::JobOrder> Start() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (pending_.empty() || running_ >= 2) return std::nullopt;
    if (running_ == 1 && (pending_rows_ < limits_.second_batch_rows || !pool_.HasSpare())) {
      return std::nullopt;
    }
    if (pending_rows_ < limits_.rows_max && !min_interval_.Allows()) return std::nullopt;
    ++running_;
    if (party_of_ == nullptr) return pg::JobOrder{.is_urgent = limits_.is_urgent};
    return pg::JobOrder{party_of_(pending_.front().item), limits_.is_urgent};
  }

  // What waits starts if it may by now.
  void Resume(void (MinInterval::*change)()) {
    std::optional<pg::JobOrder> start;
    {
      base::MutexLock lock(mutex_);
      (min_interval_.*change)();
      start = Start();
    }
    Submit(start);
  }

  void Submit(const std::optional<pg::JobOrder>& order) {
    if (!order.has_value()) return;
    auto run = [this](absl::StatusOr<pg::Session*> session) {
      std::vector<Item> items = Take();
      if (!items.empty()) run_(std::move(session), std::move(items));
      std::optional<pg::JobOrder> next;
      {
        base::MutexLock lock(mutex_);
        --running_;
        next = Start();
      }
      Submit(next);
    };
    pool_.Submit(std::move(run), *order);
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
  const PartyOf party_of_;
  base::Mutex mutex_;
  std::deque<Entry> pending_ ABSL_GUARDED_BY(mutex_);
  int64_t pending_rows_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  MinInterval min_interval_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
