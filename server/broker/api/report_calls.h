// Calls for reports, and their answers. `party`: as in LeaseCall.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/model/report.h"

namespace skiplane::broker {

struct ListErrorsCall {
  std::string queue;
  std::string stage;
  int64_t seen_micros = INT64_MAX;  // where it goes on: after this group
  int16_t after_stage = -1;
  std::string after_fingerprint;
  int limit = 0;
  std::string party{};
};

struct ErrorPage {
  model::Page<model::ErrorGroup> groups;
  std::vector<std::string> stages;  // of each group: its name
};

struct StatisticsCall {
  std::string queue;
  std::string stage;
  std::optional<model::AttemptOutcome> outcome;
  std::optional<absl::Time> start;  // unset: 24 hours ago
  std::optional<absl::Time> end;    // unset: now
  absl::Time after_hour = absl::InfinitePast();  // where it goes on: after these
  int16_t after_stage = 0;
  int16_t after_outcome = 0;
  std::string party{};
};

struct Statistics {
  model::Page<model::HourStatistics> hours;
  std::vector<std::string> stages;  // of each: its name
};

struct ListWorkersCall {
  std::string after_name;
  std::string after_handle;
  int limit = 0;
  std::string party{};
};

struct ListAuditCall {
  std::string queue;  // empty: any
  int64_t before = INT64_MAX;
  int limit = 0;
  std::string party{};
};

}  // namespace skiplane::broker
