// Gathers what concurrent calls bring into batches, without any added wait.
//
// The first item goes to the pool at once; what arrives while its statement runs forms the next
// batch. A second batch runs beside the first only when many rows wait and a connection stays idle
// for others, so that a loaded broker keeps two busy and an idle one answers in one commit. Where a
// delay is harmless, a least interval keeps two batches apart, which makes the second one larger.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
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
    Parties jobs;
    {
      base::MutexLock lock(mutex_);
      if (!pending_.HasRoom(limits_, rows, bytes)) return false;
      const std::string& party = Party(item);
      if (pool_.HasBacklog() && jobs_.Join(party)) jobs = {party};
      pending_.Add(std::move(item), rows, bytes);
      if (jobs.empty()) jobs = Start();
    }
    Submit(jobs);
    return true;
  }

  // What waits goes now, and so does all that comes later. For a timer that has stopped.
  void EndMinInterval() { Resume(&MinInterval::End); }

 private:
  using Parties = std::vector<std::string>;

  const std::string& Party(const Item& item) const {
    return party_of_ == nullptr ? limits_.party : party_of_(item);
  }

  // With whose jobs the next batch waits, which counts as running from now on; none if none may.
  Parties Start() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (pending_.empty() || running_ >= 2) return {};
    if (running_ == 1 && (pending_.rows() < limits_.second_batch_rows || !pool_.HasSpare())) {
      return {};
    }
    if (pending_.rows() < limits_.rows_max && !min_interval_.Allows()) return {};
    ++running_;
    Parties jobs{Party(pending_.front())};
    jobs_.Begin(jobs.front());
    if (!pool_.HasBacklog()) return jobs;
    pending_.ForFirst(kLookedAt, [&](const Item& item) {
      if (jobs_.Join(Party(item))) jobs.push_back(Party(item));
    });
    return jobs;
  }

  // What waits starts if it may by now.
  void Resume(void (MinInterval::*change)()) {
    Parties jobs;
    {
      base::MutexLock lock(mutex_);
      (min_interval_.*change)();
      jobs = Start();
    }
    Submit(jobs);
  }

  void Submit(const Parties& jobs) {
    for (const std::string& each : jobs) {
      auto run = [this, each](absl::StatusOr<pg::Session*> session) {
        Run(each, std::move(session));
      };
      pool_.Submit(std::move(run), {each, limits_.rank});
    }
  }

  void Run(const std::string& party, absl::StatusOr<pg::Session*> session) {
    std::vector<Item> items;
    {
      base::MutexLock lock(mutex_);
      if (!jobs_.Take(party)) return;
      items = pending_.Take(limits_);
    }
    if (!items.empty()) run_(std::move(session), std::move(items));
    Parties next;
    {
      base::MutexLock lock(mutex_);
      --running_;
      next = Start();
    }
    Submit(next);
  }

  static constexpr size_t kLookedAt = 64;  // items, for whose turns a batch takes

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
