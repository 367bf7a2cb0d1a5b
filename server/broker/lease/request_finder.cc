#include "server/broker/lease/request_finder.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/lease/caller_sessions.h"
#include "server/store/lease.h"
#include "server/store/sessions.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::milliseconds kMinInterval(100);

using Ids = std::vector<absl::string_view>;

struct Asked {
  QueuePtr queue;
  std::vector<std::string> ids;
};

// By lane: under which ids a call leases.
std::map<int64_t, Asked> AskedBy(const Ticket& ticket) {
  std::map<int64_t, Asked> lanes;
  for (const Ticket::Wanted& wanted : ticket.wanted) {
    Asked& asked = lanes[wanted.lane_stage.lane];
    asked.queue = wanted.queue;
    asked.ids.push_back(ticket.RequestIdIn(wanted.lane_stage));
  }
  return lanes;
}

using Known = std::map<int64_t, absl::flat_hash_set<std::string>>;

// Of all their ids, in each lane that knows any.
absl::StatusOr<Known> KnownOf(pg::Session& session, const std::vector<TicketPtr>& tickets) {
  std::map<int64_t, std::vector<std::string>> lanes;
  for (const TicketPtr& ticket : tickets) {
    for (const Ticket::Wanted& wanted : ticket->wanted) {
      lanes[wanted.lane_stage.lane].push_back(ticket->RequestIdIn(wanted.lane_stage));
    }
  }
  Known known;
  for (const auto& [lane, ids] : lanes) {
    ASSIGN_OR_RETURN(const std::vector<std::string> found,
                     store::KnownRequests(session, lane, Ids(ids.begin(), ids.end())));
    if (!found.empty()) known[lane].insert(found.begin(), found.end());
  }
  return known;
}

bool IsKnown(const Known& known, const Ticket& ticket) {
  if (known.empty()) return false;
  return std::ranges::any_of(ticket.wanted, [&](const Ticket::Wanted& wanted) {
    const auto ids = known.find(wanted.lane_stage.lane);
    return ids != known.end() && ids->second.contains(ticket.RequestIdIn(wanted.lane_stage));
  });
}

}  // namespace

void NoteTakenIds(pg::Session& session, LeaseRun& run) {
  Ids ids;
  for (const store::LeaseCaller& caller : run.demand.callers) {
    if (!caller.request_id.empty()) ids.push_back(caller.request_id);
  }
  if (ids.empty()) return;
  auto known = store::KnownRequests(session, run.lane_stage.lane, ids);
  if (known.ok()) run.taken_ids = *std::move(known);
}

RequestFinder::RequestFinder(Context& context, SessionCache& sessions, Calls calls)
    : sessions_(sessions),
      calls_(std::move(calls)),
      urgent_(context.pool, BatchLimits{.party = "repeated leases"},
              [this](absl::StatusOr<pg::Session*> session, std::vector<TicketPtr> tickets) {
                Run(std::move(session), std::move(tickets));
              }),
      later_(
          context.pool, BatchLimits{.min_interval = kMinInterval, .party = "later leases"},
          [this](absl::StatusOr<pg::Session*> session, std::vector<TicketPtr> tickets) {
            Run(std::move(session), std::move(tickets));
          },
          &context.timer) {}

void RequestFinder::Find(const TicketPtr& ticket, bool is_urgent) {
  Batcher<TicketPtr>& batcher = is_urgent ? urgent_ : later_;
  const auto rows = static_cast<int64_t>(ticket->wanted.size());
  if (!batcher.Add(TicketPtr(ticket), rows, 64 * rows)) calls_.found(ticket, TooManyCalls());
}

void RequestFinder::Run(absl::StatusOr<pg::Session*> session, std::vector<TicketPtr> tickets) {
  tickets = calls_.unanswered(std::move(tickets));
  if (tickets.empty()) return;
  absl::StatusOr<Known> known =
      session.ok() ? KnownOf(**session, tickets) : absl::StatusOr<Known>(session.status());
  for (const TicketPtr& ticket : tickets) {
    absl::StatusOr<LeaseAnswer> found = LeaseAnswer();
    if (!known.ok()) {
      found = known.status();
    } else if (IsKnown(*known, *ticket)) {
      found = FindLeases(**session, ticket);
    }
    if (IsOutcomeUnknown(found.status())) found = RepeatLater();
    calls_.found(ticket, std::move(found));
  }
}

// What an earlier call with this request id got, and still holds.
absl::StatusOr<LeaseAnswer> RequestFinder::FindLeases(pg::Session& session,
                                                      const TicketPtr& ticket) {
  LeaseAnswer answer;
  for (const auto& [lane, asked] : AskedBy(*ticket)) {
    const Ids ids(asked.ids.begin(), asked.ids.end());
    ASSIGN_OR_RETURN(std::vector<store::LeasedRow> found, store::FindRequest(session, lane, ids));
    for (store::LeasedRow& row : found) {
      NameQueue(*asked.queue, row.task);
      answer.tasks.push_back(std::move(row.task));
    }
  }
  if (answer.tasks.empty()) return answer;
  if (ticket->call.worker_id.empty()) {
    ASSIGN_OR_RETURN(answer.lease_remaining,
                     store::SessionRemaining(session, answer.tasks.front().token.session));
    return answer;
  }
  LeaseRun run;  // of one caller, for its session
  run.tickets.push_back(ticket);
  run.demand.callers.emplace_back();
  run.lives_until.emplace_back();
  RETURN_IF_ERROR(PrepareSessions(session, sessions_, run));
  answer.lease_remaining =
      absl::FromChrono(run.lives_until.front() - std::chrono::steady_clock::now());
  return answer;
}

}  // namespace skiplane::broker
