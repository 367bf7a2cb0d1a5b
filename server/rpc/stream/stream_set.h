// The streams that are open, so that a drain reaches them, and so that they end before a connection
// that is too old: also those on which nobody says anything. Thread-safe.
#pragma once

#include <chrono>

#include "absl/container/flat_hash_map.h"
#include "absl/random/bit_gen_ref.h"
#include "absl/random/random.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/base/timer.h"
#include "server/rpc/stream/unsent.h"

namespace skiplane::rpc {

class OpenStream;

// When a stream is too old that may be so old at most: up to a tenth earlier, as chance has it.
std::chrono::steady_clock::time_point OldFrom(std::chrono::steady_clock::time_point begin,
                                              std::chrono::nanoseconds age,
                                              absl::BitGenRef random);

class StreamSet {
 public:
  // Older streams are told that they are to end, some a little earlier: those that began together,
  // as when a broker was started again, do not all come again together.
  explicit StreamSet(absl::Duration stream_age);

  // False after Drain(): the stream is not kept.
  bool Add(OpenStream* stream);
  // Of one that was added. After it the stream is told nothing.
  void Remove(OpenStream* stream);

  // Tells all that are open, once, that they are to end.
  void Drain();

  // For the streams.
  base::Timer& timer() { return timer_; }
  UnsentOfAll* unsent() { return &unsent_; }

 private:
  void RetireOld();

  const std::chrono::nanoseconds stream_age_;
  UnsentOfAll unsent_ = 0;
  base::Mutex mutex_;
  bool is_draining_ ABSL_GUARDED_BY(mutex_) = false;
  absl::BitGen random_ ABSL_GUARDED_BY(mutex_);
  // And from when on each is too old.
  absl::flat_hash_map<OpenStream*, std::chrono::steady_clock::time_point> streams_
      ABSL_GUARDED_BY(mutex_);
  base::Timer timer_;  // last: it uses the other members
};

}  // namespace skiplane::rpc
