// Gathers what concurrent calls bring into batches, without any added wait.
//
// The first item goes to the pool at once; what arrives while its statement runs forms the next
// batch. A second batch runs beside the first only when many rows wait and a connection stays idle
// for others, so that a loaded broker keeps two busy and an idle one answers in one commit. Where a
// delay is harmless, a least interval keeps two batches apart, which makes the second one larger.
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/broker/batch/batch_jobs.h"
#include "server/broker/batch/batch_limits.h"
#include "server/broker/batch/min_interval.h"
#include "server/broker/batch/pending_items.h"
#include "server/pg/connections/pool.h"

namespace skiplane::broker {

template <typename Item>
class Batcher {
 public:
  // Gets the pool's session or the reason why there is none, and answers every item.
  using RunBatch = absl::AnyInvocable<void(absl::StatusOr<pg::Session*>, std::vector<Item>) const>;
  // Whose turns at the pool this item may take.
  using PartyOf = const std::string& (*)(const Item&);

  // `timer` stops before the batcher goes; it may be null without a least interval. A null
  // `party_of`: batches take the turns of limits.party, as each is of many parties.
  Batcher(pg::Pool& pool, BatchLimits limits, RunBatch run, base::Timer* timer = nullptr,
          PartyOf party_of = nullptr)
      : pool_(pool),
        limits_(limits),
        run_(std::move(run)),
        party_of_(party_of),
        min_interval_(limits.min_interval, timer, [this] { Resume(&MinInterval::Awoke); }) {}

  // Returns false, and leaves `item` as it was, when too much waits already.
  bool Add(Item&& item, int64_t rows, int64_t bytes) {
    std::optional<std::string> job;
    {
      base::MutexLock lock(mutex_);
      if (!pending_.HasRoom(limits_, rows, bytes)) return false;
      const std::string& party = party_of_ == nullptr ? limits_.party : party_of_(item);
      if (jobs_.Join(party)) job = party;
      pending_.Add(std::move(item), rows, bytes);
      if (!job.has_value()) job = Start();
    }
    Submit(job);
    return true;
  }

  // What waits goes now, and so does all that comes later. For a timer that has stopped.
  void EndMinInterval() { Resume(&MinInterval::End); }

 private:
  // Whose job the next batch waits with, which counts as running from now on; nothing if none may.
  std::optional<std::string> Start() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (pending_.empty() || running_ >= 2) return std::nullopt;
    if (running_ == 1 && (pending_.rows() < limits_.second_batch_rows || !pool_.HasSpare())) {
      return std::nullopt;
    }
    if (pending_.rows() < limits_.rows_max && !min_interval_.Allows()) return std::nullopt;
    ++running_;
    std::string party = party_of_ == nullptr ? limits_.party : party_of_(pending_.front());
    jobs_.Begin(party);
    return party;
  }

  // What waits starts if it may by now.
  void Resume(void (MinInterval::*change)()) {
    std::optional<std::string> job;
    {
      base::MutexLock lock(mutex_);
      (min_interval_.*change)();
      job = Start();
    }
    Submit(job);
  }

  void Submit(const std::optional<std::string>& job) {
    if (!job.has_value()) return;
    pool_.Submit(
        [this, party = *job](absl::StatusOr<pg::Session*> session) {
          Run(party, std::move(session));
        },
        {*job, limits_.rank});
  }

  void Run(const std::string& party, absl::StatusOr<pg::Session*> session) {
    std::vector<Item> items;
    {
      base::MutexLock lock(mutex_);
      if (!jobs_.Take(party)) return;
      items = pending_.Take(limits_);
    }
    if (!items.empty()) run_(std::move(session), std::move(items));
    std::optional<std::string> next;
    {
      base::MutexLock lock(mutex_);
      --running_;
      next = Start();
    }
    Submit(next);
  }

  pg::Pool& pool_;
  const BatchLimits limits_;
  const RunBatch run_;
  const PartyOf party_of_;
  base::Mutex mutex_;
  PendingItems<Item> pending_ ABSL_GUARDED_BY(mutex_);
  int running_ ABSL_GUARDED_BY(mutex_) = 0;  // batches, also those that wait at the pool
  BatchJobs jobs_ ABSL_GUARDED_BY(mutex_);
  MinInterval min_interval_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
