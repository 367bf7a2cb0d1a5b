#include "tests/bench/options.h"

#include <iostream>

#include "absl/strings/numbers.h"

namespace skiplane::bench {
namespace {

constexpr char kHelp[] =
    R"(Runs a broker with a PostgreSQL of its own and prints one JSON line per scenario.

  tests/bench/run [flags]
    --list           the scenarios' names, and end
    --only NAME      this scenario; may be given again. flat_10min runs only when it is asked for
    --seconds N      measured per scenario, after a warm-up                        (15)
    --quick          2 seconds each, on a twentieth of the rows: to see that all of it works
    --no-history     queues keep no history rows
    --request-ids    Enqueue and Lease carry request ids, as the client library's do
    --directory DIR  the database's folder is made in here, so put it on the disk
                     that is to be measured                                        (/var/tmp)

tasks_per_s counts tasks that were enqueued, leased and acked. p50_ms and p99_ms are those of one
caller's whole cycle, or of the way from the start of Enqueue into the worker's hands. CPU is in
microseconds per task, WAL in bytes per task.
)";

bool SetSeconds(Options& options, const std::string& value) {
  int seconds = 0;
  if (!absl::SimpleAtoi(value, &seconds) || seconds < 1 || seconds > 3600) return false;
  options.seconds = absl::Seconds(seconds);
  return true;
}

// Returns whether `name` with `value` is right.
bool Set(Options& options, const std::string& name, const std::string& value) {
  if (value.empty()) return false;
  if (name == "--seconds") return SetSeconds(options, value);
  if (name == "--only") return options.only.push_back(value), true;
  if (name == "--directory") return options.directory = value, true;
  if (name == "--broker") return options.broker = value, true;
  return false;
}

bool SetSwitch(Options& options, const std::string& name) {
  if (name == "--quick") {
    options.is_quick = true;
    options.seconds = absl::Seconds(2);
    options.warmup = absl::Seconds(1);
    return true;
  }
  if (name == "--no-history") return options.history = false, true;
  if (name == "--request-ids") return options.request_ids = true, true;
  return false;
}

}  // namespace

std::optional<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--help") {
      std::cout << kHelp;
      return std::nullopt;
    }
    if (SetSwitch(options, arguments[i])) continue;
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (!Set(options, arguments[i], value)) {
      std::cerr << "bench: " << arguments[i] << " " << value << " is not understood; see --help\n";
      return std::nullopt;
    }
    ++i;
  }
  return options;
}

}  // namespace skiplane::bench
