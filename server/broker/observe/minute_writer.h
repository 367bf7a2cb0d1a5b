// Writes once a minute what the recorder gathered. What could not be written is tried again with
// the next minute's, as far as there is room. Outlives the jobs of the pool; its methods are for
// one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "server/base/mutex.h"
#include "server/broker/batch/context.h"

namespace skiplane::broker {

class MinuteWriter {
 public:
  explicit MinuteWriter(Context& context) : context_(context) {}

  // Writes every minute until the timer stops.
  void Start();

  // Writes what there is, on a session of the pool.
  void Flush();

 private:
  // What is written by one statement, under a number that makes it repeatable.
  struct Part {
    int64_t number = 0;
    std::vector<model::MinuteEntry> entries;
  };

  void Gather();
  void Write(pg::Session& session);

  Context& context_;
  base::Mutex mutex_;
  std::deque<Part> parts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
