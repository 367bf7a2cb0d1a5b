#include "server/store/space.h"

#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {
namespace {

// A terabyte may take that long; whoever waits for a lock is let in all the while.
constexpr absl::Duration kGiveBackTimeout = absl::Minutes(30);

}  // namespace

absl::StatusOr<Sizes> ReadSizes(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSpaceSize, pg::Params()));
  Sizes sizes;
  for (int row = 0; row < rows.size(); ++row) {
    sizes.tables.push_back({.table = std::string(rows.Text(row, 0)),
                            .row_bytes = rows.Int(row, 1),
                            .toast_bytes = rows.Int(row, 2),
                            .index_bytes = rows.Int(row, 3),
                            .dead_rows = rows.Int(row, 4)});
    sizes.database_bytes = rows.Int(row, 5);
  }
  return sizes;
}

absl::StatusOr<std::vector<SpaceStep>> FindSpace(pg::Session& session, const SpaceBounds& bounds) {
  pg::Params params;
  params.Int8(bounds.table_pages_min).Int8(bounds.index_pages_min).Int8(bounds.rebuilt_pages_max)
      .Int8(absl::ToInt64Seconds(bounds.estimate_age));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kSpaceFind, params));
  std::vector<SpaceStep> steps;
  for (int row = 0; row < rows.size(); ++row) {
    steps.push_back({std::string(rows.Text(row, 0)), rows.Bool(row, 1),
                     std::string(rows.Text(row, 2))});
  }
  return steps;
}

absl::StatusOr<int64_t> ReadTaken(pg::Session& session, const std::string& relation) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSpaceTaken, pg::Params().Text(relation)));
  return rows.IsNull(0, 0) ? 0 : rows.Int(0, 0);
}

absl::Status GiveBack(pg::Session& session, const SpaceStep& step) {
  return session.RunLong(step.command, kGiveBackTimeout);
}

absl::StatusOr<bool> CancelGiveBack(pg::Session& session, int backend_pid) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kSpaceCancel, pg::Params().Int4(backend_pid)));
  return !rows.empty();
}

}  // namespace skiplane::store
