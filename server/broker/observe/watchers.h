// All who watch the queues of this broker. While there are any, the summaries of all queues are
// read about once a second, by the statements of a list; what differs from the time before is told
// to each that may see it, and that has got what it was told before. Without a watcher nothing is
// read.
//
// A database that cannot be read for a moment is not told of. When that lasts, all are told why and
// are to end. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/broker/api/watch_calls.h"
#include "server/broker/batch/answer_memory.h"
#include "server/broker/batch/context.h"
#include "server/broker/observe/queue_watch.h"
#include "server/broker/observe/summary_log.h"

namespace skiplane::broker {

// Streams of one party at one broker: each looks through what changed, once a second.
inline constexpr int kWatchesOfPartyMax = 300;

class Watchers {
 public:
  Watchers(Context& context, const QueueWatch& watch, AnswerMemory& lists)
      : context_(context), watch_(watch), lists_(lists) {}

  // One more. It must end before this object does. TOO_MANY_CALLS, from its first Next(), if its
  // party has as many as one may.
  std::shared_ptr<QueueWatcher> Add(WatchCall call);

  // Who waits is answered with BROKER_DRAINING, from now on at once. Idempotent.
  void Stop();

 private:
  class Watcher;
  // Answers are given without the lock.
  using Answers = std::vector<std::pair<Callback<QueueChanges>, absl::StatusOr<QueueChanges>>>;

  void Next(Watcher& watcher, Callback<QueueChanges> done);
  void End(Watcher& watcher);
  void Offer(Watcher& watcher, Answers* answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<absl::StatusOr<QueueChanges>> NewsFor(Watcher& watcher)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Unset: it is not known yet.
  std::optional<absl::Status> LookForNames(const Watcher& watcher) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetTold() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Read();
  absl::Status ReadAll(pg::Session& session);
  void EndRead(const absl::Status& status, base::SteadyTime began);
  void TellAll(const absl::Status& status, bool gives_up);

  Context& context_;
  const QueueWatch& watch_;
  AnswerMemory& lists_;
  base::Mutex mutex_;
  absl::flat_hash_set<Watcher*> watchers_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, int> of_party_ ABSL_GUARDED_BY(mutex_);
  SummaryLog log_ ABSL_GUARDED_BY(mutex_);
  int64_t reads_ ABSL_GUARDED_BY(mutex_) = 0;  // that have begun
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;  // or the time of the next read has not come
  bool is_known_ ABSL_GUARDED_BY(mutex_) = false;    // what is there, from the last read
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<base::SteadyTime> failing_since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
