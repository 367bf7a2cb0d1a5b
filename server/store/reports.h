// What operators ask for: error groups, statistics, workers. Each costs what its answer does, never
// what waits in the queues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/model/report.h"
#include "server/pg/session.h"

namespace skiplane::store {

// Where the list goes on: after this group.
struct ErrorCursor {
  int64_t seen_micros = INT64_MAX;
  int16_t stage = -1;
  std::string fingerprint;
  int64_t queue = 0;  // its first lane
};

// Lanes of one queue or of several, and of each the first lane of its queue.
struct QueueLanes {
  std::vector<int64_t> lanes;
  std::vector<int64_t> queues;

  void Add(const std::vector<int64_t>& of_queue) {
    lanes.insert(lanes.end(), of_queue.begin(), of_queue.end());
    queues.insert(queues.end(), of_queue.size(), of_queue.front());
  }
};

// Groups that have tasks, the latest seen first.
absl::StatusOr<model::Page<model::ErrorGroup>> ListErrorGroups(pg::Session& session,
                                                               const QueueLanes& lanes,
                                                               std::optional<int16_t> stage,
                                                               const ErrorCursor& after, int limit,
                                                               int64_t bytes_max,
                                                               bool hide_muted = false);

// What is to be said of an error group; what is unset stays as it is.
struct ErrorRemark {
  int64_t queue = 0;  // its first lane
  std::string fingerprint;
  std::optional<std::string> text;
  std::optional<bool> is_muted;
  std::string actor;
};

absl::StatusOr<model::ErrorNote> AnnotateError(pg::Session& session, const ErrorRemark& remark);

// An empty note if nothing was said yet.
absl::StatusOr<model::ErrorNote> GetErrorNote(pg::Session& session, int64_t queue,
                                              const std::string& fingerprint);

struct StatisticsRange {
  std::optional<int16_t> stage;
  std::optional<model::AttemptOutcome> outcome;
  absl::Time start;
  absl::Time end;
  // Where the list goes on: after these.
  absl::Time after_hour = absl::InfinitePast();
  int16_t after_stage = 0;
  int16_t after_outcome = 0;
};

// By hour, stage and outcome.
absl::StatusOr<model::Page<model::HourStatistics>> ReadStatistics(pg::Session& session,
                                                                  absl::Span<const int64_t> lanes,
                                                                  const StatisticsRange& range,
                                                                  int limit);

struct MinuteRange {
  std::optional<int16_t> stage;
  absl::Time start;
  absl::Time end;
  absl::Duration step;  // whole minutes
  // Where the list goes on: after these.
  absl::Time after_step = absl::InfinitePast();
  int16_t after_stage = 0;
};

// By step and stage.
absl::StatusOr<model::Page<model::MinuteStatistics>> ReadMinutes(pg::Session& session,
                                                                 absl::Span<const int64_t> lanes,
                                                                 const MinuteRange& range,
                                                                 int limit);
// All together.
absl::StatusOr<model::MinuteStatistics> ReadMinutesTotal(pg::Session& session,
                                                         absl::Span<const int64_t> lanes,
                                                         const MinuteRange& range);

// Writes what a broker saw; a repeat with the same `part` writes nothing twice.
absl::Status AddMinutes(pg::Session& session, absl::Span<const model::MinuteEntry> entries,
                        int64_t part);

// Living ones by name, those after (name, handle).
absl::StatusOr<std::vector<model::Worker>> ListWorkers(pg::Session& session,
                                                       const std::string& after_name,
                                                       const std::string& after_handle,
                                                       int limit);

// A living worker by its handle.
absl::StatusOr<std::optional<model::Worker>> GetWorker(pg::Session& session,
                                                       const std::string& handle);

// What a living worker holds, by lane and id; nothing of one that is not known.
absl::StatusOr<std::vector<model::TaskId>> TasksOfWorker(pg::Session& session,
                                                         const std::string& handle, int limit);

}  // namespace skiplane::store
