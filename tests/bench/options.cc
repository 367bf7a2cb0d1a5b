#include "tests/bench/options.h"

#include <iostream>

#include "absl/strings/numbers.h"

namespace skiplane::bench {
namespace {

bool SetSeconds(Options& options, const std::string& value) {
  int seconds = 0;
  if (!absl::SimpleAtoi(value, &seconds) || seconds < 1 || seconds > 3600) return false;
  options.seconds = absl::Seconds(seconds);
  return true;
}

bool SetPayloadBytes(Options& options, const std::string& value) {
  return absl::SimpleAtoi(value, &options.payload.bytes) &&
         options.payload.bytes >= kPayloadBytesLeast && options.payload.bytes <= 1 << 20;
}

bool SetBatchTasks(Options& options, const std::string& value) {
  return absl::SimpleAtoi(value, &options.batch_tasks) && options.batch_tasks >= 1 &&
         options.batch_tasks <= 1000;
}

// Returns whether `name` with `value` is right.
bool Set(Options& options, const std::string& name, const std::string& value) {
  if (value.empty()) return false;
  if (name == "--seconds") return SetSeconds(options, value);
  if (name == "--batch-tasks") return SetBatchTasks(options, value);
  if (name == "--payload-bytes") return SetPayloadBytes(options, value);
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
  if (name == "--no-packing") return options.packing = false, true;
  if (name == "--json-payloads") return options.payload.json = true, true;
  if (name == "--enqueue-ids") return options.lease_ids = false, true;
  if (name == "--no-request-ids") return options.enqueue_ids = options.lease_ids = false, true;
  return false;
}

}  // namespace

std::optional<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (SetSwitch(options, arguments[i])) continue;
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (!Set(options, arguments[i], value)) {
      std::cerr << "bench: " << arguments[i] << " " << value
                << " is not understood; see tests/bench/run --help\n";
      return std::nullopt;
    }
    ++i;
  }
  return options;
}

}  // namespace skiplane::bench
