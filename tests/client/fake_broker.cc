#include "tests/client/fake_broker.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

namespace skiplane {
namespace {

constexpr std::chrono::seconds kWaitAtMost{60};

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const grpc::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

}  // namespace

class FakeBroker::ParkedLease : public grpc::ServerUnaryReactor {
 public:
  ParkedLease(FakeBroker& broker, const v1::LeaseRequest& request, v1::LeaseResponse* response)
      : broker_(broker), request_(request), response_(response) {}

  void OnCancel() override {
    const std::lock_guard<std::mutex> lock(broker_.mutex_);
    if (broker_.parked_.erase(this) == 0) return;
    End(grpc::Status::CANCELLED);
  }

  void OnDone() override { delete this; }

  // With the broker's mutex held, once it is out of parked_.
  void End(const grpc::Status& status) {
    broker_.parked = static_cast<int>(broker_.parked_.size());
    broker_.changed_.notify_all();
    if (status.ok()) broker_.Fill(request_.max_tasks(), response_);
    Finish(status);
  }

 private:
  FakeBroker& broker_;
  const v1::LeaseRequest request_;
  v1::LeaseResponse* const response_;
};

FakeBroker::FakeBroker() {
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kBytesSentUnread);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // else it grows with what is read
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

FakeBroker::~FakeBroker() { Shutdown(); }

std::string FakeBroker::address() const { return "127.0.0.1:" + std::to_string(port_); }

void FakeBroker::Shutdown() {
  HoldSettlements(false);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (ParkedLease* lease : std::exchange(parked_, {})) lease->End(grpc::Status::CANCELLED);
  }
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
}

void FakeBroker::FailNext(const std::string& method, int times, grpc::Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  failures_[method].insert(failures_[method].end(), static_cast<size_t>(times), std::move(status));
}

void FakeBroker::AddTask(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ready_.push_back(id);
  if (parked_.empty()) return;
  ParkedLease* lease = parked_.extract(parked_.begin()).value();
  lease->End(grpc::Status::OK);
}

void FakeBroker::LeaveTaskForRepeat(const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  left_for_repeat_.push_back(id);
}

void FakeBroker::SetState(const std::string& token, v1::LeaseState state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  states_[token] = state;
}

void FakeBroker::SetCommand(v1::WorkerCommand by_heartbeat, v1::WorkerCommand by_lease) {
  const std::lock_guard<std::mutex> lock(mutex_);
  command_ = by_heartbeat;
  command_of_lease_ = by_lease;
}

void FakeBroker::LoseSession() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_session_alive_ = false;
}

void FakeBroker::SetNackState(const std::string& token, v1::TaskState state) {
  const std::lock_guard<std::mutex> lock(mutex_);
  nack_states_[token] = state;
}

void FakeBroker::HoldSettlements(bool is_held) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_holding_ = is_held;
  if (is_held) return;
  for (grpc::ServerUnaryReactor* call : std::exchange(held_, {})) call->Finish(grpc::Status::OK);
}

void FakeBroker::RefuseItem(const std::string& token, const std::string& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  refused_[token] = message;
}

void FakeBroker::AnswerNothing() {
  const std::lock_guard<std::mutex> lock(mutex_);
  answers_nothing_ = true;
}

bool FakeBroker::WaitUntil(const std::function<bool()>& condition) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, kWaitAtMost, condition);
}

grpc::Status FakeBroker::NextStatus(const std::string& method) {
  changed_.notify_all();
  std::deque<grpc::Status>& failures = failures_[method];
  if (failures.empty()) return grpc::Status::OK;
  const grpc::Status status = failures.front();
  failures.pop_front();
  return status;
}

void FakeBroker::Fill(int max_tasks, v1::LeaseResponse* response) {
  while (!ready_.empty() && response->tasks_size() < max_tasks) {
    v1::LeasedTask* task = response->add_tasks();
    task->set_task_id(ready_.front());
    task->set_queue("q");
    task->set_lease_token("token-" + ready_.front());
    task->set_payload("payload-" + ready_.front());
    task->set_attempt(1);
    ready_.pop_front();
  }
}

std::string FakeBroker::AuthorizationOf(const grpc::CallbackServerContext& context) {
  const auto shown = context.client_metadata().find("authorization");
  if (shown == context.client_metadata().end()) return "";
  return {shown->second.data(), shown->second.size()};
}

grpc::ServerUnaryReactor* FakeBroker::Enqueue(grpc::CallbackServerContext* context,
                                              const v1::EnqueueRequest* request,
                                              v1::EnqueueResponse* response) {
  const std::lock_guard<std::mutex> lock(mutex_);
  enqueues.push_back(*request);
  authorization = AuthorizationOf(*context);
  for (int i = 0; i < request->tasks_size() && !answers_nothing_; ++i) {
    v1::EnqueueResult* result = response->add_results();
    result->set_task_id("task-" + std::to_string(i));
    result->set_outcome(v1::ENQUEUE_OUTCOME_CREATED);
  }
  return Answer(context, NextStatus("Enqueue"));
}

grpc::ServerUnaryReactor* FakeBroker::Lease(grpc::CallbackServerContext* context,
                                            const v1::LeaseRequest* request,
                                            v1::LeaseResponse* response) {
  const std::lock_guard<std::mutex> lock(mutex_);
  leases.push_back(*request);
  response->set_command(command_of_lease_);
  is_session_alive_ = true;
  if (const grpc::Status status = NextStatus("Lease"); !status.ok()) {
    return Answer(context, status);
  }
  if (!lease_ids_.insert(request->request_id()).second) {
    ready_.insert(ready_.end(), left_for_repeat_.begin(), left_for_repeat_.end());
    left_for_repeat_.clear();
  }
  const bool waits = request->wait().seconds() > 0 || request->wait().nanos() > 0;
  if (!ready_.empty() || !waits) {
    Fill(request->max_tasks(), response);
    return Answer(context, grpc::Status::OK);
  }
  auto* lease = new ParkedLease(*this, *request, response);
  parked_.insert(lease);
  parked = static_cast<int>(parked_.size());
  return lease;
}

grpc::ServerUnaryReactor* FakeBroker::Ack(grpc::CallbackServerContext* context,
                                          const v1::AckRequest* request,
                                          v1::AckResponse* response) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const grpc::Status status = NextStatus("Ack");
  for (const v1::AckItem& item : request->items()) {
    if (!answers_nothing_ && status.ok()) TakeAck(item, response->add_results());
  }
  return Answer(context, status);
}

grpc::ServerUnaryReactor* FakeBroker::Nack(grpc::CallbackServerContext* context,
                                           const v1::NackRequest* request,
                                           v1::NackResponse* response) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const grpc::Status status = NextStatus("Nack");
  for (const v1::NackItem& item : request->items()) {
    if (status.ok()) TakeNack(item, response->add_results());
  }
  return Answer(context, status);
}

void FakeBroker::TakeAck(const v1::AckItem& item, v1::SettleResult* result) {
  if (const auto refused = refused_.find(item.lease_token()); refused != refused_.end()) {
    result->set_outcome(v1::SETTLE_OUTCOME_REFUSED);
    result->mutable_refusal()->set_reason("INVALID_FIELD");
    result->mutable_refusal()->set_message(refused->second);
    return;
  }
  acked.insert(item.lease_token());
  result->set_outcome(v1::SETTLE_OUTCOME_SETTLED);
}

void FakeBroker::TakeNack(const v1::NackItem& item, v1::SettleResult* result) {
  nacked[item.lease_token()] = item;
  result->set_outcome(v1::SETTLE_OUTCOME_SETTLED);
  result->set_state(nack_states_[item.lease_token()]);
}

grpc::ServerUnaryReactor* FakeBroker::Settle(grpc::CallbackServerContext* context,
                                             const v1::SettleRequest* request,
                                             v1::SettleResponse* response) {
  const std::lock_guard<std::mutex> lock(mutex_);
  settles.push_back(*request);
  calls.push_back("Settle");
  const grpc::Status status = NextStatus("Settle");
  for (const v1::SettleItem& item : request->items()) {
    if (!status.ok()) break;
    if (item.has_ack()) TakeAck(item.ack(), response->add_results());
    if (item.has_nack()) TakeNack(item.nack(), response->add_results());
  }
  if (!is_holding_) return Answer(context, status);
  held_.push_back(context->DefaultReactor());
  return held_.back();
}

grpc::ServerUnaryReactor* FakeBroker::Heartbeat(grpc::CallbackServerContext* context,
                                                const v1::HeartbeatRequest* request,
                                                v1::HeartbeatResponse* response) {
  const std::lock_guard<std::mutex> lock(mutex_);
  heartbeats.push_back(*request);
  if (on_heartbeat_) on_heartbeat_();
  calls.push_back("Heartbeat");
  response->set_session_alive(is_session_alive_);
  response->set_command(command_);
  for (const v1::HeldLease& lease : request->leases()) {
    const auto state = states_.find(lease.lease_token());
    response->add_results()->set_state(state == states_.end() ? v1::LEASE_STATE_HELD
                                                              : state->second);
  }
  return Answer(context, NextStatus("Heartbeat"));
}

}  // namespace skiplane
