// Cuts a stream of tasks into Enqueue calls that can be repeated: where a batch ends depends on the
// tasks alone, and its request id says where it begins. So a second run over the same input sends
// the same calls, and the broker makes no task twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "skiplane/v1/broker.pb.h"

namespace skiplane::cli {

class Batcher {
 public:
  // `size` is 1 to 1000; `batch_id` is the run's.
  Batcher(std::string queue, std::string batch_id, size_t size);

  // Takes a task. Returns the batch that it does not fit into any more, if there is one.
  std::optional<v1::EnqueueRequest> Add(v1::NewTask task);

  // What is left.
  std::optional<v1::EnqueueRequest> End();

 private:
  v1::EnqueueRequest Begin() const;

  const std::string queue_;
  const std::string batch_id_;
  const size_t size_;
  int64_t position_ = 0;
  size_t bytes_ = 0;
  v1::EnqueueRequest batch_;
};

}  // namespace skiplane::cli
