#include "server/store/sessions.h"

#include <algorithm>
#include <map>
#include <set>

#include "server/base/status_macros.h"
#include "server/pg/transaction.h"
#include "server/sql/queries.h"
#include "server/store/texts.h"

namespace skiplane::store {
namespace {

constexpr int kLeasesMax = 10000;

// What their fourth column is; the command is in the last one.
enum class Fourth { kNone, kRecheckUntil, kNow };

std::vector<LivingSession> ReadSessions(const pg::Rows& rows, Fourth fourth) {
  std::vector<LivingSession> living;
  for (int row = 0; row < rows.size(); ++row) {
    LivingSession& out = living.emplace_back();
    out.worker_id = std::string(rows.Text(row, 0));
    out.id = rows.UuidValue(row, 1);
    out.remaining = absl::Microseconds(rows.Int(row, 2));
    if (fourth == Fourth::kRecheckUntil) out.recheck_until = rows.Int(row, 3);
    if (fourth == Fourth::kNow) out.now = rows.Int(row, 3);
    const int last = fourth == Fourth::kNone ? 3 : 4;
    out.command = static_cast<model::WorkerCommand>(rows.Int(row, last));
  }
  return living;
}

// Asked only when a worker's session was made, by a statement that sees every end that came before.
absl::Status EndLateOnes(pg::Session& session, absl::Span<const Touch> touches,
                         std::vector<LivingSession>& living) {
  std::set<pg::Uuid> ids;
  for (const LivingSession& one : living) ids.insert(one.id);
  std::vector<pg::Uuid> made;
  for (const Touch& touch : touches) {
    if (!touch.worker_id.empty() && ids.contains(touch.new_id)) made.push_back(touch.new_id);
  }
  if (made.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionEndLate, pg::Params().UuidArray(made)));
  for (int row = 0; row < rows.size(); ++row) {
    for (LivingSession& one : living) one.has_ended |= one.id == rows.UuidValue(row, 0);
  }
  return absl::OkStatus();
}

absl::Status Tell(pg::Session& session, absl::Span<const model::LeaseToken> taken,
                  bool at_once) {
  std::map<pg::Uuid, int64_t> greatest;
  for (const model::LeaseToken& token : taken) {
    int64_t& lease_number = greatest[token.session];
    lease_number = std::max(lease_number, token.lease_number);
  }
  if (greatest.empty()) return absl::OkStatus();
  std::vector<pg::Uuid> ids;
  std::vector<int64_t> lease_numbers;
  for (const auto& [id, lease_number] : greatest) {
    ids.push_back(id);
    lease_numbers.push_back(lease_number);
  }
  pg::Params params;
  params.UuidArray(ids).Int8Array(lease_numbers).Bool(at_once);
  return session.Run(sql::kSessionRecheck, params).status();
}

}  // namespace

absl::StatusOr<std::vector<LivingSession>> TouchSessions(pg::Session& session,
                                                         absl::Span<const Touch> touches) {
  std::vector<std::optional<absl::string_view>> workers;
  std::vector<pg::Uuid> ids;
  std::vector<absl::string_view> names;
  std::vector<absl::string_view> versions;
  std::vector<int64_t> durations, aheads, ages;
  std::vector<int32_t> concurrencies;
  for (const Touch& touch : touches) {
    workers.push_back(IfAny(touch.worker_id));
    ids.push_back(touch.new_id);
    names.push_back(touch.worker_name);
    durations.push_back(absl::ToInt64Microseconds(touch.duration));
    aheads.push_back(absl::ToInt64Microseconds(touch.ahead));
    ages.push_back(absl::ToInt64Microseconds(touch.age));
    versions.push_back(touch.client_version);
    concurrencies.push_back(touch.concurrency);
  }
  pg::Params params;
  params.OptionalTextArray(workers).UuidArray(ids).TextArray(names);
  params.Int8Array(durations).Int8Array(aheads).Int8Array(ages);
  params.TextArray(versions).Int4Array(concurrencies);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionTouch, params));
  std::vector<LivingSession> living = ReadSessions(rows, Fourth::kNow);
  RETURN_IF_ERROR(EndLateOnes(session, touches, living));
  return living;
}

absl::StatusOr<std::vector<LivingSession>> RenewSessions(
    pg::Session& session, absl::Span<const SessionRenewal> renewals) {
  std::vector<absl::string_view> workers;
  std::vector<int64_t> durations;
  std::vector<int64_t> aheads;
  std::vector<std::optional<absl::string_view>> reports;
  for (const SessionRenewal& renewal : renewals) {
    workers.push_back(renewal.worker_id);
    durations.push_back(absl::ToInt64Microseconds(renewal.duration));
    aheads.push_back(absl::ToInt64Microseconds(renewal.ahead));
    reports.push_back(IfAny(renewal.report_json));
  }
  pg::Params params;
  params.TextArray(workers).Int8Array(durations).OptionalTextArray(reports).Int8Array(aheads);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionRenew, params));
  return ReadSessions(rows, Fourth::kRecheckUntil);
}

absl::StatusOr<std::vector<LivingSession>> FindSessions(pg::Session& session,
                                                        absl::Span<const std::string> workers) {
  const std::vector<absl::string_view> ids(workers.begin(), workers.end());
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionAlive, pg::Params().TextArray(ids)));
  return ReadSessions(rows, Fourth::kNone);
}

absl::StatusOr<std::vector<model::LeaseToken>> FindLeasesOf(pg::Session& session, int64_t lane,
                                                            absl::Span<const pg::Uuid> sessions) {
  pg::Params params;
  params.Int8(lane).UuidArray(sessions).Int4(kLeasesMax);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionLeases, params));
  std::vector<model::LeaseToken> leases;
  for (int row = 0; row < rows.size(); ++row) {
    model::LeaseToken& lease = leases.emplace_back();
    lease.task = {lane, rows.Int(row, 0)};
    lease.lease_number = rows.Int(row, 1);
    lease.session = rows.UuidValue(row, 2);
    lease.attempt = static_cast<int32_t>(rows.Int(row, 3));
  }
  return leases;
}

absl::StatusOr<std::vector<pg::Uuid>> EndSessions(pg::Session& session,
                                                  absl::Span<const SessionEnd> ends) {
  std::vector<absl::string_view> workers;
  std::vector<pg::Uuid> new_ids;
  std::vector<int64_t> ages;
  for (const SessionEnd& end : ends) {
    workers.push_back(end.worker_id);
    new_ids.push_back(model::NewSessionId());
    ages.push_back(absl::ToInt64Microseconds(end.age));
  }
  const auto claim_and_end = [&]() -> absl::Status {
    pg::Params claim, end;
    claim.TextArray(workers).UuidArray(new_ids);
    RETURN_IF_ERROR(session.Run(sql::kSessionClaim, claim).status());
    end.TextArray(workers).UuidArray(new_ids).Int8Array(ages);
    return session.Run(sql::kSessionEnd, end).status();
  };
  RETURN_IF_ERROR(pg::InTransaction(session, claim_and_end));
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionEnded, pg::Params().TextArray(workers)));
  std::vector<pg::Uuid> ended;
  for (int row = 0; row < rows.size(); ++row) ended.push_back(rows.UuidValue(row, 0));
  return ended;
}

absl::StatusOr<std::vector<model::LeaseState>> FindLeaseStates(
    pg::Session& session, absl::Span<const model::LeaseToken> tokens) {
  std::vector<int64_t> lanes, ids, lease_numbers;
  std::vector<pg::Uuid> sessions;
  for (const model::LeaseToken& token : tokens) {
    lanes.push_back(token.task.lane);
    ids.push_back(token.task.id);
    lease_numbers.push_back(token.lease_number);
    sessions.push_back(token.session);
  }
  pg::Params params;
  params.Int8Array(lanes).Int8Array(ids).Int8Array(lease_numbers).UuidArray(sessions);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kLeaseState, params));
  std::vector<model::LeaseState> states(tokens.size(), model::LeaseState::kLost);
  for (int row = 0; row < rows.size(); ++row) {
    states[static_cast<size_t>(rows.Int(row, 0)) - 1] =
        rows.Bool(row, 1) ? model::LeaseState::kCancelRequested : model::LeaseState::kHeld;
  }
  return states;
}

absl::Status TellSessions(pg::Session& session, absl::Span<const model::LeaseToken> taken) {
  return Tell(session, taken, false);
}

absl::Status TellSessionsAtOnce(pg::Session& session, absl::Span<const model::LeaseToken> taken) {
  return Tell(session, taken, true);
}

absl::StatusOr<absl::Duration> SessionRemaining(pg::Session& session, const model::SessionId& id) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionRemaining, pg::Params().UuidValue(id)));
  return rows.empty() ? absl::ZeroDuration() : absl::Microseconds(rows.Int(0, 0));
}

absl::StatusOr<bool> CommandWorker(pg::Session& session, const std::string& handle,
                                   model::WorkerCommand command) {
  pg::Params params;
  params.Text(handle).Int2(static_cast<int16_t>(command));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kWorkerCommand, params));
  return !rows.empty();
}

absl::StatusOr<int64_t> CountWorkers(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionCount, pg::Params()));
  return rows.Int(0, 0);
}

}  // namespace skiplane::store
