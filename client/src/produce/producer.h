// The Enqueues of a connection, together on one Produce stream: what gathers while a message is on
// its way goes in the next one. A stream that breaks is followed by another, on which everything
// that was not answered is sent again under its request id, with the pauses and within the attempts
// and the deadline of a call of its own. What a stream is not for, or the broker has none for, goes
// by calls of its own. Thread-safe.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/src/produce/enqueue.h"
#include "client/src/stream/stream.h"
#include "client/src/stream/timer.h"

namespace skiplane::internal {

class Producer : public Stream<v1::ProduceRequest, v1::ProduceResponse>::Owner,
                 public std::enable_shared_from_this<Producer> {
 public:
  using ProduceStream = Stream<v1::ProduceRequest, v1::ProduceResponse>;

  // Whether Send() takes it: it has a request id and leaves room for others. Else one that is
  // refused would end the stream, and one that may not be repeated would be lost with it.
  static bool IsFor(const v1::EnqueueRequest& request);

  PendingCall Send(std::shared_ptr<Connection> connection, v1::EnqueueRequest request,
                   absl::Duration timeout, absl::AnyInvocable<void(Enqueue::Answer)> done);

  void Cancel(const EnqueuePtr& enqueue);

  // The connection goes, so nothing is under way.
  void Close();

 private:
  using Time = Timer::Time;

  // What ended, for after the mutex.
  struct Over {
    EnqueuePtr enqueue;
    Enqueue::Answer answer;
  };
  struct Work {
    std::vector<Over> over;
    std::vector<EnqueuePtr> unary;
  };

  bool Fill(ProduceStream* stream, v1::ProduceRequest* request) override;
  void Sent(ProduceStream* stream, v1::ProduceRequest* request) override;
  void Came(ProduceStream* stream, v1::ProduceResponse* response) override;
  void Ended(ProduceStream* stream, const absl::Status& status) override;

  // Sends what waits, on the stream or on a new one; without the mutex.
  void Go();
  void Do(Work work);
  void CallUnary(const EnqueuePtr& enqueue);
  void OnTimer();

  // With the mutex held:
  void Take(v1::ProduceResult* result, Work& work);
  void Leave(Enqueue& enqueue);
  void End(const EnqueuePtr& enqueue, Enqueue::Answer answer, Work& work);
  void PauseOrEnd(const EnqueuePtr& enqueue, const absl::Status& status, Work& work);
  void Requeue(const std::vector<EnqueuePtr>& enqueues, Work& work);
  void GiveAway(const EnqueuePtr& enqueue, Work& work);
  void GiveQueueAway(Work& work);
  void EndEarly(const EnqueuePtr& enqueue, absl::Status status, Work& work);
  std::vector<EnqueuePtr> UnansweredOf(const ProduceStream* stream);
  void EndOverdue(Time now, Work& work);
  void SetTimer(Time now);
  void SetTimerAt(Time time);

  std::mutex mutex_;
  std::shared_ptr<ProduceStream> stream_;  // to send on; another one may still be answered
  std::deque<EnqueuePtr> queue_;
  absl::flat_hash_map<int64_t, EnqueuePtr> sent_;
  std::multimap<Time, EnqueuePtr> paused_;
  std::vector<EnqueuePtr> cancelled_;
  int64_t number_ = 0;
  bool is_closed_ = false;
  int sent_tasks_ = 0;
  size_t sent_bytes_ = 0;
  Time unary_until_{};
  Time used_{};
  Time earliest_deadline_ = Time::max();
  Timer timer_;
};

}  // namespace skiplane::internal
