// A BrokerService in this process that does as a test tells it: fails calls, hands out tasks, loses
// leases, and keeps every request for the test to look at. It has no streams, as brokers of 0.1;
// FakeStreams has. Thread-safe.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_context.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "skiplane/v1/broker.grpc.pb.h"

namespace skiplane {

class FakeBroker : public v1::BrokerService::CallbackService {
 public:
  // As much is sent of what no one reads; the rest of a message waits.
  static constexpr int kBytesSentUnread = 1 << 16;

  FakeBroker();
  ~FakeBroker() override;

  // "127.0.0.1:PORT"
  std::string address() const;
  // Ends the server; calls fail as UNAVAILABLE from now on.
  void Shutdown();

  // The next `times` calls of `method` ("Enqueue", "Lease" ...) fail with `status`.
  void FailNext(const std::string& method, int times, grpc::Status status);
  // A task for the next Lease, or for a parked one. Its token is "token-" + id.
  void AddTask(const std::string& id);
  // Given to a Lease that repeats the request id of one before it, as a broker does that had leased
  // the task for a caller that was gone.
  void LeaveTaskForRepeat(const std::string& id);
  // What Heartbeat says of a token from now on.
  void SetState(const std::string& token, v1::LeaseState state);
  void LoseSession();
  // What Heartbeat says from now on, and Lease, which a broker answers by what it knew before.
  void SetCommand(v1::WorkerCommand by_heartbeat, v1::WorkerCommand by_lease);
  // Called during each Heartbeat. Set it before there is a worker.
  void OnHeartbeat(std::function<void()> told) { on_heartbeat_ = std::move(told); }
  // What a nack says that the task is now.
  void SetNackState(const std::string& token, v1::TaskState state);
  // Calls that settle are done but not answered until `is_held` is false again.
  void HoldSettlements(bool is_held);
  // The ack of this token is refused as an item, with `message`.
  void RefuseItem(const std::string& token, const std::string& message);
  // Enqueue and Ack answer without results.
  void AnswerNothing();

  // Returns whether `condition` became true; it may read the members below.
  bool WaitUntil(const std::function<bool()>& condition);

  template <typename Value>
  Value Get(const std::function<Value()>& read) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return read();
  }

  std::vector<v1::EnqueueRequest> enqueues;
  std::string authorization;  // of the last of them
  std::vector<v1::LeaseRequest> leases;
  std::vector<v1::SettleRequest> settles;
  std::vector<v1::HeartbeatRequest> heartbeats;
  std::vector<std::string> calls;              // the methods of Settle and Heartbeat, in order
  std::set<std::string> acked;                 // tokens
  std::map<std::string, v1::NackItem> nacked;  // by token
  int parked = 0;                              // Lease calls that wait

 protected:
  // What the caller showed; empty: nothing.
  static std::string AuthorizationOf(const grpc::CallbackServerContext& context);

 private:
  class ParkedLease;

  grpc::ServerUnaryReactor* Enqueue(grpc::CallbackServerContext* context,
                                    const v1::EnqueueRequest* request,
                                    v1::EnqueueResponse* response) override;
  grpc::ServerUnaryReactor* Lease(grpc::CallbackServerContext* context,
                                  const v1::LeaseRequest* request,
                                  v1::LeaseResponse* response) override;
  grpc::ServerUnaryReactor* Ack(grpc::CallbackServerContext* context,
                                const v1::AckRequest* request,
                                v1::AckResponse* response) override;
  grpc::ServerUnaryReactor* Nack(grpc::CallbackServerContext* context,
                                 const v1::NackRequest* request,
                                 v1::NackResponse* response) override;
  grpc::ServerUnaryReactor* Settle(grpc::CallbackServerContext* context,
                                   const v1::SettleRequest* request,
                                   v1::SettleResponse* response) override;
  grpc::ServerUnaryReactor* Heartbeat(grpc::CallbackServerContext* context,
                                      const v1::HeartbeatRequest* request,
                                      v1::HeartbeatResponse* response) override;

  // Returns the failure that the test ordered, or OK. With mutex_ held.
  grpc::Status NextStatus(const std::string& method);
  // With mutex_ held.
  void TakeAck(const v1::AckItem& item, v1::SettleResult* result);
  void TakeNack(const v1::NackItem& item, v1::SettleResult* result);
  // With mutex_ held.
  void Fill(int max_tasks, v1::LeaseResponse* response);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::deque<grpc::Status>> failures_;
  std::deque<std::string> ready_;
  std::deque<std::string> left_for_repeat_;
  std::set<std::string> lease_ids_;  // request ids of calls that were not failed
  std::map<std::string, v1::LeaseState> states_;
  std::map<std::string, v1::TaskState> nack_states_;
  std::map<std::string, std::string> refused_;  // the message by token
  std::set<ParkedLease*> parked_;
  bool is_session_alive_ = true;
  v1::WorkerCommand command_ = v1::WORKER_COMMAND_UNSPECIFIED;
  v1::WorkerCommand command_of_lease_ = v1::WORKER_COMMAND_UNSPECIFIED;
  bool is_holding_ = false;
  std::vector<grpc::ServerUnaryReactor*> held_;
  bool answers_nothing_ = false;
  std::function<void()> on_heartbeat_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace skiplane
