// Calls back at a time of the steady clock, on a thread of gRPC: a step of the machine's clock
// changes nothing. It is used under its owner's mutex, and keeps the earliest time that it is told.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace skiplane::internal {

class Timer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Whether nothing is set that would fire by `time`.
  bool IsLaterThan(Time time) const { return !time_ || *time_ > time; }

  // Calls `fire`, without the mutex, when `time` has come; not if an earlier time is set.
  void Set(Time time, std::function<void()> fire) {
    if (!IsLaterThan(time)) return;
    time_ = time;
    const auto rest = std::chrono::nanoseconds(time - std::chrono::steady_clock::now()).count();
    const gpr_timespec at = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                         gpr_time_from_nanos(rest, GPR_TIMESPAN));
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(at, [fire = std::move(fire)](bool is_due) {
      if (is_due) fire();
    });
  }

  // Whoever was called back says so: no time is set any more.
  void Fired() { time_.reset(); }

  void Cancel() {
    time_.reset();
    alarm_.reset();
  }

 private:
  std::optional<Time> time_;
  std::unique_ptr<grpc::Alarm> alarm_;
};

}  // namespace skiplane::internal
