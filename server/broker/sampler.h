// Reads the exact counts and the age of the oldest ready task of each queue every few seconds and
// sets the gauges, so that a scrape never touches the database.
#pragma once

#include "server/broker/age_probe.h"
#include "server/broker/context.h"
#include "server/broker/dispatcher.h"
#include "server/broker/queue_cache.h"

namespace skiplane::broker {

class Sampler {
 public:
  Sampler(Context& context, QueueCache& queues, const Dispatcher& dispatcher)
      : context_(context), queues_(queues), dispatcher_(dispatcher) {}

  // Samples now and then again and again until the timer stops.
  void Start();

 private:
  void Run(pg::Session& session);

  Context& context_;
  QueueCache& queues_;
  const Dispatcher& dispatcher_;
  AgeProbe ages_;
};

}  // namespace skiplane::broker
