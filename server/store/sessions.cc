#include "server/store/sessions.h"

#include "server/base/status_macros.h"
#include "server/sql/queries.h"
#include "server/store/texts.h"

namespace skiplane::store {
namespace {

std::vector<LivingSession> ReadSessions(const pg::Rows& rows, bool with_cancels) {
  std::vector<LivingSession> living;
  for (int row = 0; row < rows.size(); ++row) {
    LivingSession& out = living.emplace_back();
    out.worker_id = std::string(rows.Text(row, 0));
    out.id = rows.UuidValue(row, 1);
    out.remaining = absl::Microseconds(rows.Int(row, 2));
    if (!with_cancels) continue;
    const std::vector<int64_t> numbers = NumbersOf(rows.Text(row, 3));
    for (size_t i = 1; i < numbers.size(); i += 2) {
      out.cancels.emplace_back(numbers[i - 1], numbers[i]);
    }
  }
  return living;
}

}  // namespace

absl::StatusOr<std::vector<LivingSession>> TouchSessions(pg::Session& session,
                                                         absl::Span<const Touch> touches) {
  std::vector<std::optional<absl::string_view>> workers;
  std::vector<pg::Uuid> ids;
  std::vector<absl::string_view> names;
  std::vector<int64_t> durations, aheads;
  for (const Touch& touch : touches) {
    workers.push_back(IfAny(touch.worker_id));
    ids.push_back(touch.new_id);
    names.push_back(touch.worker_name);
    durations.push_back(absl::ToInt64Microseconds(touch.duration));
    aheads.push_back(absl::ToInt64Microseconds(touch.ahead));
  }
  pg::Params params;
  params.OptionalTextArray(workers).UuidArray(ids).TextArray(names);
  params.Int8Array(durations).Int8Array(aheads);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionTouch, params));
  return ReadSessions(rows, /*with_cancels=*/false);
}

absl::StatusOr<std::vector<LivingSession>> BeatSessions(pg::Session& session,
                                                        absl::Span<const Beat> beats) {
  std::vector<absl::string_view> workers;
  std::vector<int64_t> durations;
  std::vector<std::optional<absl::string_view>> reports;
  for (const Beat& beat : beats) {
    workers.push_back(beat.worker_id);
    durations.push_back(absl::ToInt64Microseconds(beat.duration));
    reports.push_back(IfAny(beat.report_json));
  }
  pg::Params params;
  params.TextArray(workers).Int8Array(durations).OptionalTextArray(reports);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionBeat, params));
  return ReadSessions(rows, /*with_cancels=*/true);
}

absl::StatusOr<absl::Duration> SessionRemaining(pg::Session& session, const model::SessionId& id) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSessionRemaining, pg::Params().UuidValue(id)));
  return rows.empty() ? absl::ZeroDuration() : absl::Microseconds(rows.Int(0, 0));
}

absl::StatusOr<int64_t> CountWorkers(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSessionCount, pg::Params()));
  return rows.Int(0, 0);
}

}  // namespace skiplane::store
