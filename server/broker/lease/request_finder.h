// Looks for what earlier Lease calls got, under the request ids of calls that may repeat them.
// Nearly always that is nothing: one small statement says so of many calls at once. Thread-safe.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/calls.h"
#include "server/broker/batch/batcher.h"
#include "server/broker/batch/context.h"
#include "server/broker/schedule/statement.h"
#include "server/broker/schedule/ticket.h"
#include "server/broker/sessions/session_cache.h"

namespace skiplane::broker {

// After kAlreadyExists: which request ids are taken, if that can be read.
void NoteTakenIds(pg::Session& session, LeaseRun& run);

class RequestFinder {
 public:
  // Called for each batch: first which of the tickets have no answer yet, then what was found for
  // each of these, nothing maybe. Outside of any lock of this class.
  struct Calls {
    std::function<std::vector<TicketPtr>(std::vector<TicketPtr>)> unanswered;
    std::function<void(const TicketPtr&, absl::StatusOr<LeaseAnswer>)> found;
  };

  RequestFinder(Context& context, SessionCache& sessions, Calls calls);

  // One that is not urgent waits a tenth of a second at most for others: then many have an answer.
  void Find(const TicketPtr& ticket, bool is_urgent);

  // Nothing waits for others any more. For the time after the timer has stopped.
  void EndMinInterval() { later_.EndMinInterval(); }

 private:
  void Run(absl::StatusOr<pg::Session*> session, std::vector<TicketPtr> tickets);
  absl::StatusOr<LeaseAnswer> FindLeases(pg::Session& session, const TicketPtr& ticket);

  SessionCache& sessions_;
  const Calls calls_;
  Batcher<TicketPtr> urgent_;
  Batcher<TicketPtr> later_;
};

}  // namespace skiplane::broker
