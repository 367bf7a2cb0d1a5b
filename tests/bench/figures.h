// What a scenario cost between two moments, and its JSON line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tests/bench/broker_run.h"
#include "tests/bench/latencies.h"

namespace skiplane::bench {

// What has been used so far.
struct Meters {
  absl::Time time;
  int64_t tasks = 0;
  absl::Duration client;
  absl::Duration broker;  // of all brokers
  absl::Duration postgres;
  int64_t wal_bytes = 0;
};

// Reads all meters; `tasks` is the scenario's count at this moment.
Meters ReadMeters(const BrokerRun& broker, int64_t tasks);

struct Figures {
  std::string scenario;
  Meters begin;
  Meters end;
  Latencies latencies;
  // Further latencies, by the name that they carry in the line.
  std::vector<std::pair<std::string, Latencies>> parts;
  // Tasks per second of each second that was measured.
  std::vector<double> per_second;
  // Further numbers of the line.
  std::vector<std::pair<std::string, double>> extras;
  // Further rates, one per stretch of the run.
  std::vector<std::pair<std::string, std::vector<double>>> series;
};

double TasksPerSecond(const Figures& figures);

// What a part used of one core.
double CpuPercent(const Figures& figures, absl::Duration Meters::*part);

// Tasks per second from `from` to `to`, in seconds of the measurement.
double MeanRate(const std::vector<double>& per_second, size_t from, size_t to);

std::string ToJson(Figures figures);

}  // namespace skiplane::bench
