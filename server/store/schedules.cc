#include "server/store/schedules.h"

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {

absl::StatusOr<std::vector<std::string>> CheckSchedules(pg::Session& session,
                                                        absl::Span<const Schedule> schedules) {
  std::vector<absl::string_view> crons, zones;
  for (const auto& [cron, zone] : schedules) {
    crons.push_back(cron);
    zones.push_back(zone);
  }
  ASSIGN_OR_RETURN(
      const pg::Rows rows,
      session.Run(sql::kScheduleCheck, pg::Params().TextArray(crons).TextArray(zones)));
  std::vector<std::string> problems;
  for (int row = 0; row < rows.size(); ++row) problems.emplace_back(rows.Text(row, 0));
  return problems;
}

absl::StatusOr<std::vector<absl::Time>> PreviewSchedule(pg::Session& session,
                                                        const Schedule& schedule,
                                                        std::optional<absl::Time> after,
                                                        int count) {
  pg::Params params;
  params.Text(schedule.first).Text(schedule.second).TimestampArray({after}).Int4(count);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSchedulePreview, params));
  std::vector<absl::Time> planned;
  for (int row = 0; row < rows.size(); ++row) planned.push_back(rows.Micros(row, 0));
  return planned;
}

absl::StatusOr<PlannedTasks> ListPlanned(pg::Session& session, const model::PlannedPlace& after,
                                         absl::Span<const int64_t> lanes, int limit) {
  constexpr int kLookedAt = 2000;
  pg::Params params;
  params.Timestamp(after.time).Int8(after.id.lane).Int8(after.id.id);
  params.Int4(lanes.empty() ? limit : kLookedAt);
  params.Int8Array(lanes).Int4(limit);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kScheduleList, params));
  PlannedTasks found;
  for (int row = 0; row < rows.size(); ++row) {
    const model::PlannedPlace planned{rows.Micros(row, 1), {rows.Int(row, 2), rows.Int(row, 3)}};
    if (rows.Bool(row, 0)) {
      found.tasks.push_back(planned);
    } else {
      found.next = planned;
    }
  }
  if (static_cast<int>(found.tasks.size()) == limit) found.next = found.tasks.back();
  return found;
}

}  // namespace skiplane::store
