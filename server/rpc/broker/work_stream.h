// A Work: tasks are pushed while the worker has credit and sends heartbeats; it settles and renews
// on the same stream.
//
// For the tasks it keeps one Lease waiting at the broker, which asks for as many as there is credit
// for when it is sent; so tasks are dealt by the same rules as to calls. The next one is sent when
// the answer is there, unless tasks wait to be sent already: a worker that does not read gets no
// more. The Lease does not move the session: only the hello and heartbeats do.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/broker/api/broker.h"
#include "server/rpc/broker/convert_settle.h"
#include "server/rpc/broker/worker_streams.h"
#include "server/rpc/stream/message_stream.h"
#include "server/rpc/stream/patience.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {

class WorkStream final : public MessageStream, public WorkerStream {
 public:
  struct Among {
    StreamSet& all;
    WorkerStreams& workers;
  };

  WorkStream(CallScope scope, Among among, grpc::CallbackServerContext* context,
             broker::Broker& broker)
      : MessageStream(scope, {"skiplane.v1.BrokerService/Work", "work"}, among.all, context),
        broker_(broker),
        workers_(among.workers),
        timer_(among.all.timer()) {}

  void Yield() override;
  void Replaced(const LeaseNumbers* named) override;
  void OnLeasesTaken() override;
  void OnSessionGone() override;

 private:
  using Leases = std::vector<model::LeaseToken>;
  struct Settled {
    int64_t number;
    model::LeaseToken lease;
  };
  struct Settlements {  // of one message, that may be settled
    SettleCall call;
    std::vector<Settled> settled;  // one per item of the call
  };
  struct First {  // the message with the hello
    std::unique_ptr<v1::WorkRequest> request;
    HoldPtr hold;
    Leases leases;                          // that it names
    std::vector<std::string> tokens;        // as it names them
  };
  struct Known {  // a lease, and what the worker was told of it
    model::LeaseToken lease;
    std::string token;  // as the worker has it
    model::LeaseState state = model::LeaseState::kHeld;
  };

  ~WorkStream() override;

  absl::Status OnMessage(const grpc::ByteBuffer& bytes, absl::StatusOr<HoldPtr> hold) override;
  Outgoing TakeOutgoing() override;
  void OnEnding() override;
  void SayDraining() override { response()->set_draining(true); }
  bool KeepsWork() const override { return true; }

  // work_stream_hello.cc: how it begins.
  absl::Status Greet(First first);
  void Opened(First first, const absl::StatusOr<broker::OpenSessionAnswer>& answer);
  void Welcome(First* first, const broker::OpenSessionAnswer& answer);

  absl::Status SettleAndRenew(v1::WorkRequest* request, const absl::StatusOr<HoldPtr>& hold);
  absl::Status Settle(v1::WorkRequest* request, const absl::StatusOr<HoldPtr>& hold);
  absl::StatusOr<SettleCall> ReadOne(v1::SettleItem* item);
  void AnswerSettled(const std::vector<Settled>& settled,
                     absl::StatusOr<std::vector<model::SettleResult>> results);
  absl::Status Renew(v1::WorkHeartbeat* heartbeat, const absl::StatusOr<HoldPtr>& hold);
  void AnswerRenewed(int64_t number, bool ends, base::SteadyTime heard, const Leases& leases,
                     absl::StatusOr<broker::HeartbeatAnswer> answer);

  // work_stream_credit.cc: how much is pushed.
  absl::Status TakeCredit(const v1::WorkRequest& request);
  void AnswerWithdrawn();
  void SpendCredit(int64_t tasks);
  void CountCredit();

  // work_stream_lease.cc: what is pushed.
  void Fetch();
  base::SteadyTime SilentFrom() const;
  bool MayFetch() const;
  broker::LeaseCall NextLease() const;
  absl::Status PermitNow(broker::LeaseCall* call) const;
  void EndIfDenied();
  void Fetched(absl::StatusOr<broker::LeaseAnswer> answer);
  void Push(broker::LeaseAnswer answer);
  v1::WorkResponse* response();
  std::unique_ptr<v1::WorkResponse> TakeMessage();
  void FetchAfter(absl::Duration delay);
  void EndFetch();

  // work_stream_held.cc: what the worker holds, as far as this stream knows.
  void Held(const model::LeaseToken& lease, std::string token, model::LeaseState state);
  void Over(const model::LeaseToken& lease);
  void Tell(const Known& known, model::LeaseState state);
  void LoseAll();
  void Notice(const Leases& leases, const std::vector<model::LeaseState>& states);

  broker::Broker& broker_;
  WorkerStreams& workers_;
  base::Timer& timer_;
  // For OnMessage():
  bool is_greeted_ = false;
  std::string worker_id_;  // as the worker says it
  int64_t last_settlement_ = 0;
  int64_t last_heartbeat_ = 0;

  // Under the lock:
  broker::LeaseCall lease_;  // what each one asks for
  absl::Duration lease_duration_;
  bool is_greeting_ = false, is_welcome_ = false;  // the first: the hello is not answered
  absl::Status denied_;       // why nothing may be leased
  // Nothing more is pushed: the broker drains, or an operator asked the worker to take no more.
  bool is_stopped_ = false, is_quiet_ = false;
  int ends_ = 0;              // of its session, that the worker said and that are not refused
  base::SteadyTime heard_{};  // the last sign of life
  int64_t credit_ = 0, counted_credit_ = 0;  // the other: in the metrics
  std::optional<int64_t> withdrawn_;         // of it, that is to be taken back
  bool is_fetching_ = false;
  int64_t last_fetch_ = 0;
  Patience patience_;
  std::shared_ptr<broker::PendingLease> fetch_;
  base::Timer::Id next_fetch_ = 0;  // that waits for its time, as unanswered
  std::unique_ptr<v1::WorkResponse> response_;
  broker::LeaseAnswer pushed_;  // tasks in `response_`
  bool is_looking_ = false;
  bool looks_again_ = false;  // when that is done, as leases were taken meanwhile
  // By task and lease number: what the worker was last told.
  absl::flat_hash_map<std::pair<model::TaskId, int64_t>, Known> held_;
};

}  // namespace skiplane::rpc
