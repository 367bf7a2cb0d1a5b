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
};

// Groups that have tasks, the latest seen first.
absl::StatusOr<model::Page<model::ErrorGroup>> ListErrorGroups(pg::Session& session,
                                                               absl::Span<const int64_t> lanes,
                                                               std::optional<int16_t> stage,
                                                               const ErrorCursor& after, int limit,
                                                               int64_t bytes_max);

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

// Living ones by name, those after (name, handle).
absl::StatusOr<std::vector<model::Worker>> ListWorkers(pg::Session& session,
                                                       const std::string& after_name,
                                                       const std::string& after_handle,
                                                       int limit);

}  // namespace skiplane::store
