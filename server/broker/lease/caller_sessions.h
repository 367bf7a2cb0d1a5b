// The worker sessions of those for whom a statement leases.
#pragma once

#include "absl/status/status.h"
#include "server/broker/schedule/statement.h"
#include "server/broker/sessions/session_cache.h"
#include "server/pg/session.h"

namespace skiplane::broker {

// Fills in the callers' ids of ledger rows: those without a request id share one.
void GiveLedgers(LeaseRun& run);

// Fills in the callers' ids of ledger rows, and their sessions: known ones that live long enough,
// else made or renewed by one statement. Calls that do not move theirs, and whose sessions do not
// live, get nothing and are in `run.gone`.
absl::Status PrepareSessions(pg::Session& session, SessionCache& cache, LeaseRun& run);

}  // namespace skiplane::broker
