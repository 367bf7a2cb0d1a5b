// Values that one thread tells and another waits for, with a generous bound instead of a pause.
// Thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/base/mutex.h"

namespace skiplane::testing {

template <typename T>
class Heard {
 public:
  using Values = std::vector<T>;

  void Add(T value) {
    base::MutexLock lock(mutex_);
    values_.push_back(std::move(value));
    changed_.NotifyAll();
  }

  // Returns whether `condition` became true of all that was added so far.
  bool WaitUntil(absl::FunctionRef<bool(const Values&)> condition) {
    const auto bound = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    base::MutexLock lock(mutex_);
    while (!condition(values_)) {
      if (std::chrono::steady_clock::now() >= bound) return false;
      changed_.WaitUntil(mutex_, bound);
    }
    return true;
  }

  bool WaitFor(const T& value) {
    return WaitUntil([&value](const Values& values) {
      return std::find(values.begin(), values.end(), value) != values.end();
    });
  }

  bool WaitForCount(size_t count) {
    return WaitUntil([count](const Values& values) { return values.size() >= count; });
  }

  Values values() {
    base::MutexLock lock(mutex_);
    return values_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  Values values_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::testing
