#include "client/cli/source/batcher.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace skiplane::cli {
namespace {

// A request may have 4 MiB.
constexpr size_t kBatchBytesMax = size_t{3} << 20;

}  // namespace

Batcher::Batcher(std::string queue, std::string batch_id, size_t size)
    : queue_(std::move(queue)), batch_id_(std::move(batch_id)), size_(size), batch_(Begin()) {}

v1::EnqueueRequest Batcher::Begin() const {
  v1::EnqueueRequest batch;
  batch.set_queue(queue_);
  batch.set_request_id(absl::StrCat(batch_id_, "/", position_));
  return batch;
}

std::optional<v1::EnqueueRequest> Batcher::Add(v1::NewTask task) {
  const size_t bytes = task.ByteSizeLong() + 8;  // with what the list adds to it
  const auto count = static_cast<size_t>(batch_.tasks_size());
  std::optional<v1::EnqueueRequest> full;
  if (count > 0 && (count == size_ || bytes_ + bytes > kBatchBytesMax)) full = End();
  *batch_.add_tasks() = std::move(task);
  bytes_ += bytes;
  ++position_;
  return full;
}

std::optional<v1::EnqueueRequest> Batcher::End() {
  if (batch_.tasks().empty()) return std::nullopt;
  v1::EnqueueRequest full = std::move(batch_);
  batch_ = Begin();
  bytes_ = 0;
  return full;
}

}  // namespace skiplane::cli
