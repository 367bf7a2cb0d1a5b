// Reads every few seconds what the gauges and lists of queues show, so that a scrape never touches
// the database: the exact counts and the age of the oldest ready task every 5 s, the age of the
// oldest attempt every 15 s, kept dead letters and sizes every minute. What takes long is read less
// often: the counts, which have a row for each 10 s in which tasks are due, within a tenth of a
// connection, the rest within 2 % of a core.
#pragma once

#include "server/base/timer.h"
#include "server/broker/batch/context.h"
#include "server/broker/lease/dispatcher.h"
#include "server/broker/observe/age_probe.h"
#include "server/broker/observe/queue_watch.h"
#include "server/broker/observe/rate_meter.h"
#include "server/broker/queues/queue_cache.h"
#include "server/store/counts.h"

namespace skiplane::broker {

class Sampler {
 public:
  Sampler(Context& context, QueueCache& queues, const Dispatcher& dispatcher, QueueWatch& watch)
      : context_(context), queues_(queues), dispatcher_(dispatcher), watch_(watch) {}

  // Samples now and then again and again until the timer stops.
  void Start();

 private:
  // When something may be read again.
  struct Turn {
    base::SteadyTime due{};
  };
  // Runs what `turn` allows, and sets when the next one is due.
  template <typename Read>
  static void Take(Turn& turn, std::chrono::nanoseconds every, Read read);

  void Run(pg::Session& session);
  void ReadAges(pg::Session& session, const store::Counts& counts);
  void ReadSizes(pg::Session& session);
  // Only where not all queues have names.
  void NameQueues(pg::Session& session, const store::Counts& counts);
  void ShowQueues(const store::Counts& counts);
  metrics::QueueGauges GaugesOf(const model::Queue& queue, const store::Counts& counts) const;

  Context& context_;
  QueueCache& queues_;
  const Dispatcher& dispatcher_;
  QueueWatch& watch_;
  std::chrono::nanoseconds counts_took_{0};
  RateMeter rates_;
  AgeProbe ready_ages_;
  Turn attempts_turn_;
  Turn failed_turn_;
  Turn sizes_turn_;
  Turn ranking_turn_;
  absl::flat_hash_map<int64_t, absl::Duration> attempt_ages_;  // by lane
  absl::flat_hash_map<int64_t, int64_t> failed_;               // by lane
};

}  // namespace skiplane::broker
