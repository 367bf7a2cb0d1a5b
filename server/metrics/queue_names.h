// Which queues have series of their own, kQueuesMax of them: pinned ones, then those of the highest
// rank. Before the first ranking all that appear may, as long as there is room. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace skiplane::metrics {

class QueueNames {
 public:
  // Patterns as of a shell: * and ?, which no name of a queue holds.
  void Pin(std::vector<std::string> patterns);

  // All queues, in the order of their ranks.
  void Rank(const std::vector<std::string>& names);

  // Whether a queue that has no series may get some, beside `named` that have.
  bool MayJoin(absl::string_view queue, size_t named) const;

  // Whether a queue that has series may keep them.
  bool MayStay(absl::string_view queue) const;

 private:
  bool IsPinned(absl::string_view queue) const;

  std::vector<std::string> pins_;
  std::optional<absl::flat_hash_set<std::string>> chosen_;
};

}  // namespace skiplane::metrics
