// An event that may happen at any rate, of which one line in ten seconds is enough: the line says
// in `left_out` how often it happened since the one before.
//
//   static constinit base::RareEvent full("queue_full");
//   if (full.Wanted()) full.Write(base::LogLevel::kWarn, {{"queue", name}});
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/base/log.h"
#include "server/base/mutex.h"

namespace skiplane::base {

class RareEvent {
 public:
  static constexpr std::chrono::seconds kEvery{10};

  constexpr explicit RareEvent(absl::string_view name) : name_(name) {}

  // To be asked each time it happens, before the fields are made, and followed by Write() if true.
  bool Wanted() { return WantedAt(std::chrono::steady_clock::now()); }
  bool WantedAt(std::chrono::steady_clock::time_point now);
  void Write(LogLevel level, LogFields fields);

 private:
  const absl::string_view name_;
  Mutex mutex_;
  bool has_been_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point last_ ABSL_GUARDED_BY(mutex_){};
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace skiplane::base
