// Measures the runs of chores, and logs their failures when they begin and when they end. Not
// thread-safe.
#pragma once

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/metrics/metrics.h"

namespace skiplane::upkeep {

class ChoreLog {
 public:
  // `metrics` outlives the object.
  explicit ChoreLog(metrics::Metrics* metrics) : metrics_(metrics) {}

  // Runs a chore and returns what it returned; false after an error.
  bool Run(absl::string_view name, absl::FunctionRef<absl::StatusOr<bool>()> chore);

 private:
  void LogChange(absl::string_view name, const absl::Status& status);

  metrics::Metrics* metrics_;
  absl::flat_hash_set<std::string> failing_;
};

}  // namespace skiplane::upkeep
