#include "server/store/reports.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {
namespace {

constexpr int64_t kHourBytes = 200;

}  // namespace

absl::StatusOr<model::Page<model::ErrorGroup>> ListErrorGroups(pg::Session& session,
                                                               absl::Span<const int64_t> lanes,
                                                               std::optional<int16_t> stage,
                                                               const ErrorCursor& after, int limit,
                                                               int64_t bytes_max) {
  constexpr size_t kSamples = 5;
  pg::Params params;
  params.Int8Array(lanes).OptionalInt2Array({stage}).Int8(after.seen_micros).Int2(after.stage);
  params.Text(after.fingerprint).Int4(limit).Int8(bytes_max);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kErrorList, params));
  model::Page<model::ErrorGroup> page;
  for (int row = 0; row < rows.size(); ++row) {
    model::ErrorGroup& group = page.items.emplace_back();
    group.fingerprint = std::string(rows.Text(row, 0));
    group.stage = static_cast<int16_t>(rows.Int(row, 1));
    group.type = std::string(rows.Text(row, 2));
    if (!rows.IsNull(row, 3)) group.text = rows.Bytea(row, 3);
    group.retrying = rows.Int(row, 4);
    group.failed = rows.Int(row, 5);
    group.first_seen_time = rows.Micros(row, 6);
    group.last_seen_time = rows.Micros(row, 7);
    for (absl::string_view id : absl::StrSplit(rows.Text(row, 8), ',', absl::SkipEmpty())) {
      if (group.task_ids.size() < kSamples) group.task_ids.emplace_back(id);
    }
    page.bytes = rows.Int(row, 9);
    page.has_more = rows.Bool(row, 10);
  }
  return page;
}

absl::StatusOr<model::Page<model::HourStatistics>> ReadStatistics(pg::Session& session,
                                                                  absl::Span<const int64_t> lanes,
                                                                  const StatisticsRange& range,
                                                                  int limit) {
  std::optional<int16_t> outcome;
  if (range.outcome) outcome = static_cast<int16_t>(*range.outcome);
  pg::Params params;
  params.Int8Array(lanes).OptionalInt2Array({range.stage}).OptionalInt2Array({outcome});
  params.Timestamp(range.start).Timestamp(range.end).Timestamp(range.after_hour);
  params.Int2(range.after_stage).Int2(range.after_outcome).Int4(limit + 1);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kStatisticsRead, params));
  model::Page<model::HourStatistics> page;
  page.has_more = rows.size() > limit;
  for (int row = 0; row < std::min(rows.size(), limit); ++row) {
    page.items.push_back({rows.Micros(row, 0), static_cast<int16_t>(rows.Int(row, 1)),
                          static_cast<model::AttemptOutcome>(rows.Int(row, 2)), rows.Int(row, 3),
                          absl::Microseconds(rows.Int(row, 4)),
                          absl::Microseconds(rows.Int(row, 5)),
                          absl::Microseconds(rows.Int(row, 6))});
  }
  page.bytes = kHourBytes * static_cast<int64_t>(page.items.size());
  return page;
}

absl::StatusOr<std::vector<model::Worker>> ListWorkers(pg::Session& session,
                                                       const std::string& after_name,
                                                       const std::string& after_handle,
                                                       int limit) {
  pg::Params params;
  params.Text(after_name).Text(after_handle).Int4(limit);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kWorkerList, params));
  std::vector<model::Worker> workers;
  for (int row = 0; row < rows.size(); ++row) {
    workers.push_back({std::string(rows.Text(row, 0)), std::string(rows.Text(row, 1)),
                       rows.Micros(row, 2), rows.Micros(row, 3), rows.Int(row, 4)});
  }
  return workers;
}

}  // namespace skiplane::store
