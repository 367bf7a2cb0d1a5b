#include "server/store/reports.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {
namespace {

constexpr int64_t kHourBytes = 200;
constexpr int64_t kMinuteBytes = 200;

// The first five of them, of ids with commas between.
std::vector<std::string> ReadSamples(absl::string_view text) {
  constexpr size_t kSamples = 5;
  constexpr size_t kBytesMax = 2000;  // as the statement cuts it
  if (text.size() >= kBytesMax) text = text.substr(0, text.rfind(','));
  std::vector<std::string> samples;
  for (const absl::string_view id : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const bool is_known = absl::c_linear_search(samples, id);
    if (samples.size() < kSamples && !is_known) samples.emplace_back(id);
  }
  return samples;
}

// "bucket:count" with commas between.
model::TimeHistogram ReadHistogram(absl::string_view text) {
  model::TimeHistogram histogram;
  for (const absl::string_view entry : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(entry, ':');
    int64_t bucket = 0, count = 0;
    if (absl::SimpleAtoi(parts.first, &bucket) && absl::SimpleAtoi(parts.second, &count)) {
      histogram.AddTo(bucket, count);
    }
  }
  return histogram;
}

absl::StatusOr<std::vector<model::MinuteStatistics>> ReadMinuteRows(
    pg::Session& session, absl::Span<const int64_t> lanes, const MinuteRange& range, int limit) {
  pg::Params params;
  params.Int8Array(lanes).OptionalInt2Array({range.stage});
  params.Timestamp(range.start).Timestamp(range.end).Int8(absl::ToInt64Microseconds(range.step));
  params.Timestamp(range.after_step).Int2(range.after_stage).Int4(limit);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kMinuteRead, params));
  std::vector<model::MinuteStatistics> minutes;
  for (int row = 0; row < rows.size(); ++row) {
    model::MinuteStatistics& minute = minutes.emplace_back();
    minute.start_time = rows.IsNull(row, 0) ? absl::InfinitePast() : rows.Micros(row, 0);
    minute.stage = static_cast<int16_t>(rows.Int(row, 1));
    minute.times.run = ReadHistogram(rows.Text(row, 2));
    minute.times.wait = ReadHistogram(rows.Text(row, 3));
  }
  return minutes;
}

std::string CountsText(const model::TimeHistogram& histogram) {
  return absl::StrCat("{", absl::StrJoin(histogram.counts(), ","), "}");
}

model::ErrorNote ReadNote(const pg::Rows& rows, int row, int first) {
  return {std::string(rows.Text(row, first)), rows.Bool(row, first + 1),
          std::string(rows.Text(row, first + 2)), rows.Micros(row, first + 3)};
}

absl::StatusOr<std::vector<model::Worker>> FindWorkers(pg::Session& session,
                                                       const pg::Params& params) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kWorkerList, params));
  std::vector<model::Worker> workers;
  for (int row = 0; row < rows.size(); ++row) {
    model::Worker& worker = workers.emplace_back(model::Worker{
        std::string(rows.Text(row, 0)), std::string(rows.Text(row, 1)), rows.Micros(row, 2),
        rows.Micros(row, 3), rows.Int(row, 4), absl::Microseconds(rows.Int(row, 5))});
    for (absl::string_view id : absl::StrSplit(rows.Text(row, 6), ',', absl::SkipEmpty())) {
      ASSIGN_OR_RETURN(worker.tasks.emplace_back(), model::ParseTaskId(id));
    }
    worker.client_version = std::string(rows.Text(row, 7));
    worker.concurrency = static_cast<int32_t>(rows.Int(row, 8));
    worker.command = static_cast<model::WorkerCommand>(rows.Int(row, 9));
  }
  return workers;
}

}  // namespace

absl::StatusOr<model::Page<model::ErrorGroup>> ListErrorGroups(pg::Session& session,
                                                               const QueueLanes& lanes,
                                                               std::optional<int16_t> stage,
                                                               const ErrorCursor& after, int limit,
                                                               int64_t bytes_max,
                                                               bool hide_muted) {
  pg::Params params;
  params.Int8Array(lanes.lanes).OptionalInt2Array({stage}).Int8(after.seen_micros);
  params.Int2(after.stage).Text(after.fingerprint).Int4(limit).Int8(bytes_max);
  params.Int8Array(lanes.queues).Int8(after.queue).Bool(hide_muted);
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
    group.task_ids = ReadSamples(rows.Text(row, 8));
    page.bytes = rows.Int(row, 9);
    page.has_more = rows.Bool(row, 10);
    group.queue = rows.Int(row, 11);
    if (!rows.IsNull(row, 12)) group.note = ReadNote(rows, row, 12);
    for (absl::string_view count : absl::StrSplit(rows.Text(row, 16), ',')) {
      int64_t failures = 0;
      if (absl::SimpleAtoi(count, &failures)) group.hourly_failures.push_back(failures);
    }
  }
  return page;
}

absl::StatusOr<model::ErrorNote> AnnotateError(pg::Session& session, const ErrorRemark& remark) {
  std::optional<absl::string_view> text;
  if (remark.text.has_value()) text = *remark.text;
  std::optional<int16_t> is_muted;
  if (remark.is_muted.has_value()) is_muted = *remark.is_muted ? 1 : 0;
  pg::Params params;
  params.Int8(remark.queue).Text(remark.fingerprint).OptionalTextArray({&text, 1});
  params.OptionalInt2Array({is_muted}).Text(remark.actor);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kErrorAnnotate, params));
  return ReadNote(rows, 0, 0);
}

absl::StatusOr<model::ErrorNote> GetErrorNote(pg::Session& session, int64_t queue,
                                              const std::string& fingerprint) {
  pg::Params params;
  params.Int8(queue).Text(fingerprint);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kErrorNoteGet, params));
  return rows.empty() ? model::ErrorNote() : ReadNote(rows, 0, 0);
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

absl::StatusOr<model::Page<model::MinuteStatistics>> ReadMinutes(pg::Session& session,
                                                                 absl::Span<const int64_t> lanes,
                                                                 const MinuteRange& range,
                                                                 int limit) {
  model::Page<model::MinuteStatistics> page;
  ASSIGN_OR_RETURN(page.items, ReadMinuteRows(session, lanes, range, limit + 1));
  page.has_more = page.items.size() > static_cast<size_t>(limit);
  if (page.has_more) page.items.resize(static_cast<size_t>(limit));
  page.bytes = kMinuteBytes * static_cast<int64_t>(page.items.size());
  return page;
}

absl::StatusOr<model::MinuteStatistics> ReadMinutesTotal(pg::Session& session,
                                                         absl::Span<const int64_t> lanes,
                                                         const MinuteRange& range) {
  ASSIGN_OR_RETURN(std::vector<model::MinuteStatistics> rows,
                   ReadMinuteRows(session, lanes, range, 0));
  if (rows.empty()) return model::MinuteStatistics();
  return std::move(rows.front());
}

absl::Status AddMinutes(pg::Session& session, absl::Span<const model::MinuteEntry> entries,
                        int64_t part) {
  std::vector<int64_t> lanes;
  std::vector<int16_t> stages, run_firsts, wait_firsts;
  std::vector<std::optional<absl::Time>> minutes;
  std::vector<std::string> texts;
  texts.reserve(2 * entries.size());  // views into its elements must stay
  std::vector<absl::string_view> runs, waits;
  for (const model::MinuteEntry& entry : entries) {
    lanes.push_back(entry.lane_stage.lane);
    stages.push_back(entry.lane_stage.stage);
    minutes.emplace_back(entry.minute);
    run_firsts.push_back(static_cast<int16_t>(entry.times.run.first()));
    wait_firsts.push_back(static_cast<int16_t>(entry.times.wait.first()));
    runs.push_back(texts.emplace_back(CountsText(entry.times.run)));
    waits.push_back(texts.emplace_back(CountsText(entry.times.wait)));
  }
  pg::Params params;
  params.Int8Array(lanes).Int2Array(stages).TimestampArray(minutes).Int2Array(run_firsts);
  params.Int2Array(wait_firsts).TextArray(runs).TextArray(waits).Int8(part);
  return session.Run(sql::kMinuteAdd, params).status();
}

absl::StatusOr<std::vector<model::Worker>> ListWorkers(pg::Session& session,
                                                       const std::string& after_name,
                                                       const std::string& after_handle,
                                                       int limit) {
  pg::Params params;
  params.Text(after_name).Text(after_handle).Int4(limit).Text("");
  return FindWorkers(session, params);
}

absl::StatusOr<std::optional<model::Worker>> GetWorker(pg::Session& session,
                                                       const std::string& handle) {
  if (handle.empty()) return std::nullopt;
  pg::Params params;
  params.Text("").Text("").Int4(1).Text(handle);
  ASSIGN_OR_RETURN(std::vector<model::Worker> workers, FindWorkers(session, params));
  if (workers.empty()) return std::nullopt;
  return std::move(workers.front());
}

absl::StatusOr<std::vector<model::TaskId>> TasksOfWorker(pg::Session& session,
                                                         const std::string& handle, int limit) {
  pg::Params params;
  params.Text(handle).Int4(limit);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kWorkerTasks, params));
  std::vector<model::TaskId> tasks;
  for (int row = 0; row < rows.size(); ++row) {
    tasks.push_back({rows.Int(row, 0), rows.Int(row, 1)});
  }
  return tasks;
}

}  // namespace skiplane::store
