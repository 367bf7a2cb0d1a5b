#include "tests/bench/figures.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "tests/bench/cpu.h"

namespace skiplane::bench {

Meters ReadMeters(const BrokerRun& broker, int64_t tasks) {
  absl::Duration brokers;
  for (const pid_t pid : broker.pids()) brokers += ProcessCpu(pid);
  return {.time = absl::Now(),
          .tasks = tasks,
          .client = ProcessCpu(getpid()),
          .broker = brokers,
          .postgres = TreeCpu(broker.postmaster()),
          .wal_bytes = broker.WalBytes()};
}

double TasksPerSecond(const Figures& figures) {
  return static_cast<double>(figures.end.tasks - figures.begin.tasks) /
         absl::ToDoubleSeconds(figures.end.time - figures.begin.time);
}

double CpuPercent(const Figures& figures, absl::Duration Meters::*part) {
  return 100 * absl::FDivDuration(figures.end.*part - figures.begin.*part,
                                  figures.end.time - figures.begin.time);
}

double MeanRate(const std::vector<double>& per_second, size_t from, size_t to) {
  to = std::min(to, per_second.size());
  from = std::min(from, to);
  if (from == to) return 0;
  return std::accumulate(per_second.begin() + static_cast<ptrdiff_t>(from),
                         per_second.begin() + static_cast<ptrdiff_t>(to), 0.0) /
         static_cast<double>(to - from);
}

std::string ToJson(Figures figures) {
  const Meters& begin = figures.begin;
  const Meters& end = figures.end;
  const auto tasks = static_cast<double>(end.tasks - begin.tasks);
  const auto per_task = [tasks](double value) { return tasks > 0 ? value / tasks : 0.0; };
  std::string json = absl::StrFormat(
      R"({"scenario": "%s", "tasks_per_s": %.0f, "p50_ms": %.3f, "p99_ms": %.3f, )"
      R"("client_us": %.2f, "broker_us": %.2f, "postgres_us": %.2f, "wal_bytes": %.0f)",
      figures.scenario, TasksPerSecond(figures), figures.latencies.PercentileMs(0.5),
      figures.latencies.PercentileMs(0.99),
      per_task(absl::ToDoubleMicroseconds(end.client - begin.client)),
      per_task(absl::ToDoubleMicroseconds(end.broker - begin.broker)),
      per_task(absl::ToDoubleMicroseconds(end.postgres - begin.postgres)),
      per_task(static_cast<double>(end.wal_bytes - begin.wal_bytes)));
  for (auto& [name, latencies] : figures.parts) {
    absl::StrAppendFormat(&json, R"(, "%s_p50_ms": %.3f, "%s_p99_ms": %.3f)", name,
                          latencies.PercentileMs(0.5), name, latencies.PercentileMs(0.99));
  }
  for (const auto& [name, value] : figures.extras) {
    absl::StrAppendFormat(&json, R"(, "%s": %.6g)", name, value);
  }
  for (const auto& [name, values] : figures.series) {
    const auto append = [](std::string* out, double value) {
      absl::StrAppendFormat(out, "%.0f", value);
    };
    absl::StrAppend(&json, ", \"", name, "\": [", absl::StrJoin(values, ", ", append), "]");
  }
  return json + "}";
}

}  // namespace skiplane::bench
