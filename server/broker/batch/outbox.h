// What is to be done after a lock was released: answers to callers, jobs for the pool.
#pragma once

#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"

namespace skiplane::broker {

class Outbox {
 public:
  Outbox() = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  // Runs what was added, in order. Declare it before the lock, so that it is destroyed after.
  ~Outbox() {
    for (auto& function : functions_) function();
  }

  void Add(absl::AnyInvocable<void()> function) { functions_.push_back(std::move(function)); }

 private:
  std::vector<absl::AnyInvocable<void()>> functions_;
};

}  // namespace skiplane::broker
