// The queues that some patterns stand for: names in which * is any text, the empty one too, and ?
// is one byte.
//
// A name is found by its hash, and patterns are tried one after the other; each takes at most
// its length times that of the queue's name. Not thread-safe while it is filled.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace skiplane::access {

// Of A-Z a-z 0-9 . _ - * ?, and no longer than the name of a queue.
bool IsQueuePattern(absl::string_view text);

class QueueSet {
 public:
  // Of a pattern; no others.
  void Add(absl::string_view pattern);

  bool Contains(absl::string_view queue) const;
  // What was added, in no order; "*" alone if that is among it.
  std::vector<std::string> Patterns() const;
  bool is_empty() const { return !has_all_ && names_.empty() && patterns_.empty(); }
  bool has_all() const { return has_all_; }

 private:
  bool has_all_ = false;
  absl::flat_hash_set<std::string> names_;
  absl::flat_hash_set<std::string> patterns_;
};

}  // namespace skiplane::access
