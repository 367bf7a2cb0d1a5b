#include "server/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace skiplane::metrics {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The number in the given place of a text of words; none if it is not there.
std::optional<double> Word(absl::string_view text, size_t place) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  double number = 0;
  if (place >= words.size() || !absl::SimpleAtod(words[place], &number)) return std::nullopt;
  return number;
}

std::optional<double> ResidentBytes() {
  const std::optional<double> pages = Word(ReadFile("/proc/self/statm"), 1);
  if (!pages.has_value()) return std::nullopt;
  return *pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::optional<double> CpuSeconds() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

std::optional<double> OpenFiles() {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  double count = -1;  // the iterator holds a descriptor itself
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) ++count;
  if (error) return std::nullopt;
  return count;
}

std::optional<double> OpenFilesMax() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

std::optional<double> StartTime() {
  const std::string stat = ReadFile("/proc/self/stat");
  // The second word is the program's name in parentheses and may hold anything.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const std::optional<double> ticks = Word(absl::string_view(stat).substr(name_end + 1), 19);
  const std::string boot = ReadFile("/proc/stat");
  const size_t boot_time = boot.find("btime ");
  if (!ticks.has_value() || boot_time == std::string::npos) return std::nullopt;
  const std::optional<double> booted = Word(absl::string_view(boot).substr(boot_time), 1);
  if (!booted.has_value()) return std::nullopt;
  return *booted + *ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void Add(const std::string& name, const std::string& help, std::optional<double> value,
         std::vector<MetricFamily>* families) {
  if (!value.has_value()) return;
  prometheus::ClientMetric metric;
  metric.gauge.value = *value;
  metric.counter.value = *value;
  const bool is_counter = name == "process_cpu_seconds_total";
  families->push_back(
      {name, help, is_counter ? MetricType::Counter : MetricType::Gauge, {metric}});
}

}  // namespace

std::vector<MetricFamily> ProcessMetrics::Collect() const {
  std::vector<MetricFamily> families;
  Add("process_resident_memory_bytes", "Memory in RAM.", ResidentBytes(), &families);
  Add("process_cpu_seconds_total", "User and system time spent.", CpuSeconds(), &families);
  Add("process_open_fds", "Open file descriptors.", OpenFiles(), &families);
  Add("process_max_fds", "File descriptors that may be open.", OpenFilesMax(), &families);
  Add("process_start_time_seconds", "Unix time at which the process began.", StartTime(),
      &families);
  return families;
}

}  // namespace skiplane::metrics
