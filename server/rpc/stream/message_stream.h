// One bidirectional stream, from its first message to its last byte: what all of them share. Who
// calls is checked when it begins and again with each message; messages are read one at a time, and
// no further one while the stream has as much to do as it may; what there is to say is sent as one
// message as soon as the one before is on its way, so that answers gather while the caller is slow.
//
// A handler creates it with new and calls Begin(); it deletes itself when gRPC is done with it,
// which is after the broker has answered everything: an answer always finds its stream.
#pragma once

#include <memory>

#include <grpcpp/grpcpp.h>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/rpc/call/call.h"
#include "server/rpc/stream/message_hold.h"
#include "server/rpc/stream/open_stream.h"
#include "server/rpc/stream/outgoing.h"
#include "server/rpc/stream/stream_set.h"
#include "server/rpc/stream/unsent.h"

namespace skiplane::rpc {

class MessageStream : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                      public OpenStream {
 public:
  // `streams` outlives the stream.
  MessageStream(CallScope scope, Kind kind, StreamSet& streams,
                grpc::CallbackServerContext* context);

  // From the handler, once.
  void Begin();

  void Drain() override;
  void Retire() override;

 protected:
  using HoldPtr = std::shared_ptr<MessageHold>;

  ~MessageStream() override = default;

  // One message; `hold` is what it takes, to be kept until it is answered, or why there is no room
  // for it. Not called again before it returns. A refusal ends the stream.
  virtual absl::Status OnMessage(const grpc::ByteBuffer& bytes,
                                 absl::StatusOr<HoldPtr> hold) = 0;
  // What there is to say, if it fits one message; `unsent_` becomes the rest. Under the lock.
  virtual Outgoing TakeOutgoing() = 0;
  // It is to end: what only waits, is to wait no more. Without the lock, once.
  virtual void OnEnding() {}
  // Says that it is to end soon. Under the lock.
  virtual void SayDraining() = 0;
  // Whether it may use the reserve of those who end work.
  virtual bool KeepsWork() const { return false; }

  // Changes what the stream has to say or to wait for, under the lock, and sends, reads or ends as
  // follows from that. When it returns, the stream may be gone, unless something is under way.
  void Update(absl::FunctionRef<void()> change);
  // Under the lock.
  void AddUnanswered(int64_t items) { unanswered_ += items; }
  // While it is paused nothing more is read: neither messages nor the end of them.
  void SetPaused(bool is_paused) { is_paused_ = is_paused; }
  bool is_ending() const { return is_ending_; }

  // Ends the stream with `status` once all is answered. Under the lock.
  void EndWith(absl::Status status);
  // The same because this broker drains, and says so. Under the lock.
  void EndByDrain();

  // Of the stream's caller: what it may do now. In OnMessage(), or while paused.
  const access::Grants& grants() const { return admitted_.grants; }
  metrics::Metrics& metrics() { return scope().metrics; }

  base::Mutex mutex_;
  Unsent unsent_;  // under the lock

 private:
  // What follows from a change, to be done without the lock.
  struct Step {
    bool reads = false, ends = false, finishes = false;
    Outgoing outgoing{};

    bool IsEmpty() const { return !reads && !ends && !finishes && outgoing.IsEmpty(); }
  };

  void OnReadDone(bool ok) final;
  void OnWriteDone(bool ok) final;
  void OnCancel() final;
  void OnDone() final;

  absl::Status Handle();
  void TakeStep(Step* step);
  void Perform(Step step);
  void Write(Outgoing outgoing);
  void FinishNow();
  int64_t BytesUnderWay() const { return static_cast<int64_t>(outgoing_.Length()); }

  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  absl::AnyInvocable<void(bool)> on_sent_;

  // Under the lock:
  int64_t unanswered_ = 0;
  bool is_reading_ = false;
  bool is_paused_ = false;
  bool is_writing_ = false;
  bool has_all_ = false;    // the caller sends no more
  bool is_ending_ = false;  // and takes no more messages
  bool is_broken_ = false;  // nothing can be sent
  bool is_finished_ = false;
  absl::Status end_;
};

}  // namespace skiplane::rpc
