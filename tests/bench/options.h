// The command line of the benchmark; tests/bench/help.txt explains it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/bench/load/payload.h"

namespace skiplane::bench {

struct Options {
  std::string broker;                // path of skiplaned
  std::string directory = "/var/tmp";  // where the database's folder is made
  std::vector<std::string> only;     // names of scenarios; empty: all
  absl::Duration seconds = absl::Seconds(15);
  absl::Duration warmup = absl::Seconds(3);
  bool is_quick = false;     // short, and on a twentieth of the rows
  bool history = true;       // queues keep history rows
  bool packing = true;       // many tasks may share one row
  bool enqueue_ids = true;   // Enqueue carries a request id, as the client libraries' does
  bool lease_ids = true;     // Lease carries one
  int batch_tasks = 100;     // in a call: --batch-tasks of help.txt
  PayloadShape payload;
};

// Prints what is wrong and returns nullopt.
std::optional<Options> ParseOptions(const std::vector<std::string>& arguments);

}  // namespace skiplane::bench
