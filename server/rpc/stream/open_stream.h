// A stream of any kind, as the server counts it: who calls and what that one may do, its place
// among the calls that wait, what it takes of its connection. It is told when it is to end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rpc/call/call.h"
#include "server/rpc/call/no_room.h"
#include "server/rpc/stream/stream_set.h"

namespace skiplane::rpc {

class OpenStream {
 public:
  // What it is called, in words that outlive it.
  struct Kind {
    absl::string_view method;
    absl::string_view name;  // for the metrics
  };

  // `streams` outlives the stream.
  OpenStream(CallScope scope, Kind kind, StreamSet& streams, grpc::CallbackServerContext* context);
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

  // The server shuts down: it ends when all is answered.
  virtual void Drain() = 0;
  // Its connection grows old, and is cut at some time: the same, with OK.
  virtual void Retire() = 0;
  std::chrono::steady_clock::time_point begin() const { return begin_; }

  // As UnaryCall has them; of a stream that is admitted.
  std::string ProvenName() const { return ProvenNameOf(*principal_); }
  std::string PartyName() const { return std::string(party().name); }
  access::TokenSeal seal() const { return scope_.sealer.For(principal_->name); }
  void OwnWorker(std::string* worker_id) const;

 protected:
  // What is left to count when the object is gone.
  struct Left {
    InFlight* in_flight;  // null: it was not counted
    InFlight::Holding holding;

    void End() const {
      if (in_flight != nullptr) in_flight->End(holding);
    }
  };

  virtual ~OpenStream() = default;

  // Once, before anything else. From then on it may be told that it is to end.
  absl::Status Admit();
  // Who calls and what it may do now, for any thread. UNAUTHENTICATED, also if that is another one
  // than when the stream began; ACCESS_DENIED if it may not call this any more.
  absl::StatusOr<access::Admitted> AdmitNow() const;
  absl::StatusOr<access::Admitted> AdmitAgain() const;

  const CallScope& scope() const { return scope_; }
  Party party() const { return PartyOf(*principal_, caller_.address); }

  // Messages that come, and that are on their way to the caller.
  void CountRead(int64_t bytes);
  void BeginWrite(int64_t bytes);
  void EndWrite(int64_t bytes, bool is_read);

  // Before it finishes with `end`: what is told of it, in the log and to the caller.
  void TellEnd(const absl::Status& end);
  // Last: gRPC is done with it, and it is deleted next. `is_broken`: the caller did not get all.
  Left Leave(const absl::Status& end, bool is_broken);

  // What it may do, as Admit() found it.
  access::Admitted admitted_;

 private:
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
  std::shared_ptr<CallTally::Connection> tally_;
};

}  // namespace skiplane::rpc
