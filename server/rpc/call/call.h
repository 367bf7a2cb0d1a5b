// One unary call, from its request to its last byte: what every method shares.
//
// A handler creates it with new; it deletes itself when gRPC is done with it, which needs exactly
// one Reply() or Refuse(). These may come from any thread, also before the handler has returned the
// call to gRPC, and whether or not the caller is still there. A call whose caller has left ends
// when the broker has answered it, so an answer always finds its call.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <google/protobuf/message_lite.h>
#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/authenticator.h"
#include "server/access/token_sealer.h"
#include "server/metrics/metrics.h"
#include "server/rpc/call/call_tally.h"
#include "server/rpc/call/caller.h"
#include "server/rpc/call/in_flight.h"

namespace skiplane::rpc {

// What the calls of one server have in common.
struct CallScope {
  metrics::Metrics& metrics;
  InFlight& in_flight;
  CallTally& tally;
  const access::Authenticator& authenticator;
  const access::TokenSealer& sealer;
  bool has_tls = false;       // no connection is without
  bool is_passed_on = false;  // calls come from our own HTTP port, see caller.h
  absl::Duration stream_age = absl::InfiniteDuration();  // from where on streams end by themselves
};

// What gRPC hands to a handler.
struct CallWire {
  grpc::CallbackServerContext* context;
  grpc::ByteBuffer* reply;
};

class UnaryCall : public grpc::ServerUnaryReactor {
 public:
  // `method` must outlive the call.
  UnaryCall(CallScope scope, absl::string_view method, CallWire wire);

  void Reply(const google::protobuf::MessageLite& message);
  // Returns the call itself, which is what a handler returns.
  UnaryCall* Refuse(const absl::Status& status);

  // To be asked before the request's bytes are read: BROKER_DRAINING if the call came too late,
  // UNAUTHENTICATED if its caller does not prove who it is, ACCESS_DENIED if that one may not call
  // the method for any queue, TOO_MANY_CALLS if there is no room, TOO_MANY_CALLS_OF_PRINCIPAL if
  // there is none for that one.
  absl::Status Admit(size_t request_bytes);

  // To be kept until the transport has taken the answer: what it weighs is counted until then.
  void Keep(std::shared_ptr<const void> memory) { memory_ = std::move(memory); }

  // Who calls, for the audit: the name of the principal; where nobody has to prove anything what
  // the caller says of itself, else its address. At most 255 bytes of visible ASCII; the rest is
  // left out.
  std::string Actor() const;
  // What Admit() found that the caller is, and may do.
  const access::Principal& principal() const { return *admitted_.principal; }
  const access::Grants& grants() const { return admitted_.grants; }
  // The principal's name; empty where nobody has to prove anything.
  std::string ProvenName() const;
  // Whose share it takes, see PartyOf().
  std::string PartyName() const;
  // Of its lease tokens.
  access::TokenSeal seal() const;
  // A worker is its principal's: from here on the id is what the broker knows it by.
  void OwnWorker(std::string* worker_id) const;
  // What the metadata "skiplane-actor" says; as long.
  std::string ClaimedActor() const;
  // The name in the caller's certificate, else its address. As long.
  std::string CallerName() const;

 protected:
  ~UnaryCall() override = default;

  // The last that happens. `cancelled`: the caller had gone (cancelled, deadline passed, connection
  // lost) before the answer was handed to the transport, so it did not get the answer.
  virtual void Ended(bool cancelled);

  // Its caller left, and it holds memory until the broker answers it, for nobody. Overrides call
  // this one.
  void OnCancel() override;
  // It has a place of its own and is dropped when its caller leaves: it counts until it has ended.
  void CountToItsEnd() { is_dropped_with_caller_ = true; }

  grpc::CallbackServerContext& context() { return *wire_.context; }
  metrics::Metrics& metrics() { return scope_.metrics; }
  // The caller's address and port, once it is admitted.
  const std::string& caller_address() const { return caller_address_; }
  std::chrono::steady_clock::time_point begin() const { return begin_; }
  InFlight& in_flight() { return scope_.in_flight; }
  const InFlight::Holding& holding() const { return holding_; }

  // Gives back of what Admit() was granted, at most `bytes`.
  void GiveBack(int64_t bytes);

 private:
  void OnDone() final;
  enum class Counted { kNot, kCall, kAbandoned };

  absl::Status Authenticate(const Caller& caller, size_t request_bytes);
  absl::Status HoldRoom(int64_t bytes);
  // Of the answer whose memory is kept.
  void KeepBytes(int64_t bytes);
  void End(const grpc::Status& status);
  void CountAs(Counted state);
  // Its caller has left. May be told more than once.
  void CountGivenUp();

  const CallScope scope_;
  const absl::string_view method_;
  const CallWire wire_;
  const std::chrono::steady_clock::time_point begin_;
  const bool is_admitted_;
  InFlight::Holding holding_;
  std::shared_ptr<const void> memory_;
  access::Admitted admitted_;  // once it is admitted
  std::string caller_address_;
  std::shared_ptr<CallTally::Connection> tally_;
  std::atomic<Counted> counted_ = Counted::kNot;
  std::atomic<bool> is_given_up_ = false;
  bool is_dropped_with_caller_ = false;  // written before it is passed to the broker
  grpc::StatusCode code_ = grpc::StatusCode::UNKNOWN;
};

}  // namespace skiplane::rpc
