// When producers that are apart from workers may enqueue: as soon as fewer tasks wait than a bound
// (the most that workers can do), or at planned times that no answer delays (open loop).
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/time/time.h"

namespace skiplane::bench {

class Flow {
 public:
  // Gets the time at which its call was to begin, which may have passed; or nothing: it is over.
  using Begin = std::function<void(std::optional<absl::Time>)>;

  // Producers pause while `waiting_most` tasks wait, those included whose calls are under way.
  explicit Flow(int64_t waiting_most) : waiting_most_(waiting_most) {}
  // A call each `interval`, from now on. If no producer is free, the next free one is late.
  explicit Flow(absl::Duration interval);
  ~Flow() { Stop(); }
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // `begin` is called when it is a producer's turn to enqueue so many: at once, or by another
  // thread.
  void Turn(int64_t tasks, Begin begin);
  // The same for producers with a thread of their own.
  std::optional<absl::Time> WaitForTurn(int64_t tasks);

  // Workers have these in their hands.
  void Took(int64_t tasks);

  // Who waits for a turn hears that it is over, as everybody who asks from now on.
  void Stop();

 private:
  struct Producer {
    int64_t tasks;
    Begin begin;
  };

  bool IsTurn() const;
  // The turn of a producer of so many tasks, which is counted.
  std::optional<absl::Time> TakeTurn(int64_t tasks);
  // Calls those whose turn it is. Gives the lock back.
  void Release(std::unique_lock<std::mutex> lock);
  void RunClock();

  const int64_t waiting_most_ = 0;
  const std::optional<absl::Duration> interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  int64_t tasks_ = 0;  // that wait
  absl::Time planned_;
  std::deque<Producer> producers_;
  std::thread clock_;
};

}  // namespace skiplane::bench
