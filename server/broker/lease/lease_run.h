// One lease statement for the callers of one lane: their sessions are renewed if need be, then
// tasks are leased for all of them in one commit. No locks are held; the dispatcher gathers and
// applies.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/timer.h"
#include "server/broker/lease/bounds.h"
#include "server/broker/lease/next_lease.h"
#include "server/broker/lease/ticket.h"
#include "server/broker/sessions/session_cache.h"
#include "server/model/lane_stage.h"
#include "server/store/lease.h"

namespace skiplane::broker {

struct LeaseRun {
  model::LaneStage place;
  std::vector<TicketPtr> tickets;             // the callers, in the order of demand.callers
  std::vector<base::SteadyTime> lives_until;  // of their sessions
  store::LeaseDemand demand;
  Bounds::Ticket bounds_ticket = 0;
  int64_t committed_before = 0;  // from Lane::Ask
  base::SteadyTime resolve_until{};  // after its answer was lost
  bool is_within = false;  // the transaction of an ack: it does not count as the lane's own
};

// A lease in the transaction of an ack.
struct LeaseWithin {
  LeaseRun run;
  std::vector<NextLeasePtr> nexts;  // one per ticket
  store::Leased leased;
};

// Deals `count` places to callers with these demands, one each in turn.
std::vector<int32_t> DealPlaces(const std::vector<int64_t>& demands, int64_t count);

// Fills in the callers' sessions: known ones that live long enough, else made or renewed by one
// statement.
absl::Status PrepareSessions(pg::Session& session, SessionCache& cache, LeaseRun& run);

// Whether payload bytes, not a lack of tasks, may have ended the statement.
bool IsCutByBytes(const LeaseRun& run, const store::Leased& leased);

// The greatest key leased of each priority.
std::vector<store::Bound> LastKeys(const std::vector<store::LeasedRow>& rows);

}  // namespace skiplane::broker
