// Who watches queues, and what it is told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/calls.h"
#include "server/broker/api/permit.h"
#include "server/broker/api/report_calls.h"

namespace skiplane::broker {

using SummaryPtr = std::shared_ptr<const QueueSummary>;

struct WatchCall {
  std::vector<std::string> queues;  // empty: all that the caller may read
  // What the caller may read now. Asked again and again, under a lock: it must not block, and call
  // nothing of the broker. Where nothing changed it returns the same pointer. A refusal ends the
  // watch.
  std::function<absl::StatusOr<std::shared_ptr<const Permit>>()> permit_now;
  std::string party{};  // as in LeaseCall
};

struct QueueChanges {
  std::vector<SummaryPtr> changed;      // by name
  std::vector<std::string> removed;     // by name
  bool has_more = false;                // that changed at the same time
  int64_t bytes = 0;                    // about, of all of them on the wire
  std::shared_ptr<const void> memory;   // to be kept until the caller has got it
};

// One who watches. Thread-safe.
class QueueWatcher {
 public:
  virtual ~QueueWatcher() = default;

  // Answers with what was not told yet: at once, or when something changes; first with all queues.
  // Answers empty when nothing has for a while. Not while another one is unanswered, and not after
  // a refusal. QUEUE_NOT_FOUND if a queue that was asked for was never there.
  virtual void Next(Callback<QueueChanges> done) = 0;

  // From now on nothing is told; a Next() that is unanswered, or that comes later, is answered with
  // CANCELLED. Before the last reference goes. Idempotent.
  virtual void End() = 0;
};

}  // namespace skiplane::broker
