// Makes a synchronous call of an asynchronous one.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "skiplane/calls.h"

namespace skiplane::internal {

// Calls `start` with a callback and waits until it was called.
template <typename Answer, typename Start>
absl::StatusOr<Answer> Await(Start start) {
  // Shared, since the thread that sets the value may still be inside it when this one returns.
  auto promise = std::make_shared<std::promise<absl::StatusOr<Answer>>>();
  std::future<absl::StatusOr<Answer>> answer = promise->get_future();
  start(Done<Answer>([promise](absl::StatusOr<Answer> value) {
    promise->set_value(std::move(value));
  }));
  return answer.get();
}

}  // namespace skiplane::internal
