#include "server/store/slice.h"

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {

absl::StatusOr<std::vector<PriorityView>> Priorities(pg::Session& session, int64_t lane,
                                                     int16_t stage) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kLanePriorities, pg::Params().Int8(lane).Int2(stage)));
  std::vector<PriorityView> views;
  for (int row = 0; row < rows.size(); ++row) {
    PriorityView& view = views.emplace_back();
    view.priority = static_cast<int16_t>(rows.Int(row, 0));
    if (!rows.IsNull(row, 1)) view.next_due_in = rows.Micros(row, 1) - rows.Micros(row, 2);
  }
  return views;
}

absl::StatusOr<Slice> ReadSlice(pg::Session& session, int64_t lane, int16_t stage,
                                const Bound& from, int rows) {
  pg::Params params;
  params.Int8(lane).Int2(stage).Int2(from.priority).Timestamp(from.schedule_time).Int8(from.id);
  params.Int4(rows);
  ASSIGN_OR_RETURN(const pg::Rows answer, session.Run(sql::kLaneProbe, params));
  Slice slice;
  slice.seen = answer.Int(0, 0);
  slice.ready = answer.Int(0, 1);
  slice.has_packs = answer.Bool(0, 7);
  if (!answer.IsNull(0, 2)) {
    slice.first_ready = Bound{from.priority, answer.Micros(0, 2), answer.Int(0, 3)};
    slice.oldest_age = absl::Microseconds(answer.Int(0, 6));
  }
  if (!answer.IsNull(0, 4)) {
    slice.last_seen = Bound{from.priority, answer.Micros(0, 4), answer.Int(0, 5)};
  }
  return slice;
}

}  // namespace skiplane::store
