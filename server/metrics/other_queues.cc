#include "server/metrics/other_queues.h"

namespace skiplane::metrics {

QueueSample SampleOf(const QueueGauges& gauges, int64_t waiting_leases) {
  return {.scheduled = gauges.scheduled,
          .ready = gauges.ready,
          .leased = gauges.leased,
          .paused_leases = gauges.pause_mode & 1,
          .paused_enqueues = (gauges.pause_mode >> 1) & 1,
          .waiting_leases = waiting_leases,
          .oldest_ready_age = gauges.oldest_ready_age,
          .oldest_attempt_age = gauges.oldest_attempt_age,
          .dead_letters = gauges.dead_letters};
}

void OtherQueues::Set(absl::string_view queue, const QueueGauges& gauges) {
  Put(queue, SampleOf(gauges, Take(queue).waiting_leases));
}

void OtherQueues::SetWaitingLeases(absl::string_view queue, int64_t calls) {
  QueueSample sample = Take(queue);
  sample.waiting_leases = calls;
  Put(queue, sample);
}

QueueSample OtherQueues::Take(absl::string_view queue) {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return {};
  const QueueSample sample = found->second;
  queues_.erase(found);
  ready_ages_.erase(ready_ages_.find(sample.oldest_ready_age));
  attempt_ages_.erase(attempt_ages_.find(sample.oldest_attempt_age));
  Add(sample, -1);
  return sample;
}

QueueSample OtherQueues::Total() const {
  QueueSample total = sums_;
  if (!ready_ages_.empty()) total.oldest_ready_age = *ready_ages_.rbegin();
  if (!attempt_ages_.empty()) total.oldest_attempt_age = *attempt_ages_.rbegin();
  return total;
}

void OtherQueues::Put(absl::string_view queue, const QueueSample& sample) {
  queues_.emplace(queue, sample);
  ready_ages_.insert(sample.oldest_ready_age);
  attempt_ages_.insert(sample.oldest_attempt_age);
  Add(sample, 1);
}

void OtherQueues::Add(const QueueSample& sample, int64_t sign) {
  sums_.scheduled += sign * sample.scheduled;
  sums_.ready += sign * sample.ready;
  sums_.leased += sign * sample.leased;
  sums_.paused_leases += sign * sample.paused_leases;
  sums_.paused_enqueues += sign * sample.paused_enqueues;
  sums_.waiting_leases += sign * sample.waiting_leases;
  sums_.dead_letters += sign * sample.dead_letters;
}

}  // namespace skiplane::metrics
