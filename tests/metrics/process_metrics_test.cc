#include "server/metrics/process_metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace skiplane::metrics {
namespace {

double Read(const std::string& name) {
  for (const prometheus::MetricFamily& family : ProcessMetrics().Collect()) {
    if (family.name != name) continue;
    const prometheus::ClientMetric& metric = family.metric.at(0);
    return family.type == prometheus::MetricType::Counter ? metric.counter.value
                                                          : metric.gauge.value;
  }
  return std::nan("");
}

TEST(ProcessMetricsTest, AnOpenedFileIsCountedOnce) {
  const double before = Read("process_open_fds");
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(Read("process_open_fds"), before + 1);
  close(file);
  EXPECT_EQ(Read("process_open_fds"), before);
}

TEST(ProcessMetricsTest, MemoryIsThatOfASmallProgram) {
  EXPECT_GT(Read("process_resident_memory_bytes"), 1e6);
  EXPECT_LT(Read("process_resident_memory_bytes"), 1e12);
}

TEST(ProcessMetricsTest, MemoryInUseIsSeen) {
  const double before = Read("process_resident_memory_bytes");
  constexpr size_t kBytes = 64 << 20;
  const std::vector<char> used(kBytes, 'x');
  EXPECT_GT(Read("process_resident_memory_bytes"), before + 0.5 * kBytes);
  EXPECT_EQ(used.back(), 'x');
}

TEST(ProcessMetricsTest, CpuTimeGrowsWithWork) {
  const double before = Read("process_cpu_seconds_total");
  const absl::Time bound = absl::Now() + absl::Minutes(1);
  while (Read("process_cpu_seconds_total") == before && absl::Now() < bound) {
  }
  EXPECT_GT(Read("process_cpu_seconds_total"), before);
}

TEST(ProcessMetricsTest, TheProcessBeganBeforeNowAndNotLongAgo) {
  const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  EXPECT_LE(Read("process_start_time_seconds"), now + 2);
  EXPECT_GT(Read("process_start_time_seconds"), now - 3600);
}

}  // namespace
}  // namespace skiplane::metrics
