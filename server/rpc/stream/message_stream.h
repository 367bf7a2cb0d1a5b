// One bidirectional stream, from its first message to its last byte: what all of them share. Who
// calls is checked when it begins and again with each message; messages are read one at a time, and
// no further one while the stream has as much to do as it may; what there is to say is sent as one
// message as soon as the one before is on its way, so that answers gather while the caller is slow.
//
// A handler creates it with new and calls Begin(); it deletes itself when gRPC is done with it,
// which is after the broker has answered everything: an answer always finds its stream.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/rpc/call/call.h"
#include "server/rpc/call/no_room.h"
#include "server/rpc/stream/message_hold.h"
#include "server/rpc/stream/outgoing.h"
#include "server/rpc/stream/stream_set.h"
#include "server/rpc/stream/unsent.h"

namespace skiplane::rpc {

class MessageStream : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // What it is called, in words that outlive it.
  struct Kind {
    absl::string_view method;
    absl::string_view name;  // for the metrics
  };

  // `streams` outlives the stream.
  MessageStream(CallScope scope, Kind kind, StreamSet& streams,
                grpc::CallbackServerContext* context);

  // From the handler, once.
  void Begin();

  // The server shuts down: it ends when all is answered.
  void Drain();
  // Its connection grows old, and is cut at some time: the same, with OK.
  void Retire();
  std::chrono::steady_clock::time_point begin() const { return begin_; }

  // As UnaryCall has them; of a stream that is admitted.
  std::string ProvenName() const { return ProvenNameOf(*principal_); }
  std::string PartyName() const { return std::string(PartyOf(*principal_, caller_.address).name); }
  access::TokenSeal seal() const { return scope_.sealer.For(principal_->name); }
  void OwnWorker(std::string* worker_id) const;

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
  // Who calls and what it may do now, for any thread. UNAUTHENTICATED.
  absl::StatusOr<access::Admitted> AdmitNow() const;
  metrics::Metrics& metrics() { return scope_.metrics; }

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

  absl::Status Admit();
  absl::Status Handle();
  void TakeStep(Step* step);
  void Perform(Step step);
  void Write(Outgoing outgoing);
  void FinishNow();
  int64_t BytesUnderWay() const { return static_cast<int64_t>(outgoing_.Length()); }

  const CallScope scope_;
  const Kind kind_;
  StreamSet& streams_;
  grpc::CallbackServerContext* const context_;
  const std::chrono::steady_clock::time_point begin_;
  const bool is_counted_;  // by in_flight
  InFlight::Holding holding_;
  bool is_parked_ = false;
  bool is_listed_ = false;
  Caller caller_;
  std::shared_ptr<const access::Principal> principal_;  // once it is admitted: does not change
  access::Admitted admitted_;                           // as grants()
  std::shared_ptr<CallTally::Connection> tally_;
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
