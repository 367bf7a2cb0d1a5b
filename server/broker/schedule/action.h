// What a scheduler wants done. Whoever owns it performs them in order, outside of its lock.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/timer.h"
#include "server/broker/api/calls.h"
#include "server/broker/schedule/ticket.h"
#include "server/model/lane_stage.h"

namespace skiplane::broker {

// Run one lease statement: BeginLease when a connection is at hand, then EndLease.
struct SendLease {
  model::LaneStage lane_stage;
  std::string party{};  // of the call whose turn it was
};
// Read what is there: BeginProbe, then EndProbe.
struct SendProbe {
  model::LaneStage lane_stage;
};
// Look for what an earlier call with the ticket's request id got: then EndFind, unless the ticket
// was answered meanwhile.
struct SendFind {
  TicketPtr ticket;
  bool is_urgent = true;  // else it may wait for others
};
// The only answer of this ticket.
struct Answer {
  TicketPtr ticket;
  absl::StatusOr<LeaseAnswer> answer;
};
// A reservation got nothing: the call may be admitted like any other.
struct Decline {
  TicketPtr ticket;
};
// The caller is gone: these leases go back, uncharged.
struct HandBack {
  std::vector<model::LeaseToken> tokens;
};
// For the log: callers wait although there may be tasks.
struct TellHeldBack {
  QueuePtr queue;
  model::LaneStage lane_stage;
  absl::string_view why;
};

using Action =
    std::variant<SendLease, SendProbe, SendFind, Answer, Decline, HandBack, TellHeldBack>;

// One event: when it happened, and what follows from it.
struct Step {
  base::SteadyTime now;
  std::vector<Action> actions{};
  bool has_spare = true;  // whether a connection stays idle beside one more statement
};

}  // namespace skiplane::broker
