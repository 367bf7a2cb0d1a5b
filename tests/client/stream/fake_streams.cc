#include "tests/client/stream/fake_streams.h"

#include <chrono>

namespace skiplane {

// Deletes itself when gRPC is done with it. Guarded by the broker's mutex.
template <typename Request, typename Response>
class FakeStreams::Stream final : public grpc::ServerBidiReactor<Request, Response> {
 public:
  Stream(FakeStreams& broker, int number, Stream** last)
      : broker_(broker), number_(number), last_(last) {
    *last_ = this;
    Read();
  }

  // With the mutex held, as all but what gRPC calls.
  void Say(Response response) {
    if (is_over_) return;
    outgoing_.push_back(std::move(response));
    Next();
  }

  void End(grpc::Status status) {
    end_ = std::move(status);
    Next();
  }

 private:
  void Read() {
    if (broker_.holds_reads_of_ != number_) return this->StartRead(&request_);
    broker_.held_read_ = [this] { this->StartRead(&request_); };
  }

  void Next() {
    if (is_writing_ || is_over_) return;
    if (!outgoing_.empty()) {
      is_writing_ = true;
      response_ = std::move(outgoing_.front());
      outgoing_.pop_front();
      this->StartWrite(&response_);
    } else if (end_) {
      is_over_ = true;
      if (*last_ == this) *last_ = nullptr;
      ++broker_.ended_streams;
      broker_.streams_changed_.notify_all();
      this->Finish(*end_);
    }
  }

  void OnReadDone(bool ok) override {
    if (ok) broker_.Came(number_, request_, this);
    const std::lock_guard<std::mutex> lock(broker_.streams_mutex_);
    if (ok && !end_) return Read();
    if (!end_) end_ = grpc::Status::OK;
    Next();
  }

  void OnWriteDone(bool) override {
    const std::lock_guard<std::mutex> lock(broker_.streams_mutex_);
    is_writing_ = false;
    Next();
  }

  void OnCancel() override {
    const std::lock_guard<std::mutex> lock(broker_.streams_mutex_);
    outgoing_.clear();
    if (!end_) end_ = grpc::Status::CANCELLED;
    Next();
  }

  void OnDone() override { delete this; }

  FakeStreams& broker_;
  const int number_;
  Stream** const last_;
  Request request_;
  Response response_;
  std::deque<Response> outgoing_;
  std::optional<grpc::Status> end_;
  bool is_writing_ = false;
  bool is_over_ = false;
};

FakeStreams::~FakeStreams() { Shutdown(); }

void FakeStreams::Say(v1::WorkResponse response) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  if (last_work_ != nullptr) last_work_->Say(std::move(response));
}

void FakeStreams::EndWork(grpc::Status status) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  if (last_work_ != nullptr) last_work_->End(std::move(status));
}

void FakeStreams::Say(v1::ProduceResponse response) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  if (last_produce_ != nullptr) last_produce_->Say(std::move(response));
}

void FakeStreams::EndProduce(grpc::Status status) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  if (last_produce_ != nullptr) last_produce_->End(std::move(status));
}

void FakeStreams::Push(const std::string& id) {
  v1::WorkResponse response;
  v1::LeasedTask* const task = response.add_tasks();
  task->set_task_id(id);
  task->set_queue("q");
  task->set_lease_token("token-" + id);
  Say(std::move(response));
}

void FakeStreams::HoldResults(bool is_held) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  holds_results_ = is_held;
}

void FakeStreams::HoldAnswers(bool is_held) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  holds_answers_ = is_held;
}

void FakeStreams::FallSilentOn(int stream) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  silent_stream_ = stream;
}

void FakeStreams::HoldReadsOf(int stream) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  holds_reads_of_ = stream;
  const std::function<void()> read = std::exchange(held_read_, nullptr);
  if (read != nullptr) read();
}

void FakeStreams::RefuseNext(int times, v1::Refusal refusal) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  refusals_.insert(refusals_.end(), static_cast<size_t>(times), std::move(refusal));
}

void FakeStreams::SetStreamCommand(v1::WorkerCommand command) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  command_ = command;
}

void FakeStreams::SetStreamState(const std::string& token, v1::LeaseState state) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  stream_states_[token] = state;
}

bool FakeStreams::Wait(const std::function<bool()>& condition) {
  std::unique_lock<std::mutex> lock(streams_mutex_);
  return streams_changed_.wait_for(lock, std::chrono::seconds(60), condition);
}

v1::Refusal* FakeStreams::NextRefusal() {
  if (refusals_.empty()) return nullptr;
  refusal_ = std::move(refusals_.front());
  refusals_.pop_front();
  return &refusal_;
}

void FakeStreams::Came(int stream, const v1::WorkRequest& request, WorkReactor* from) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  work.push_back({stream, request});
  streams_changed_.notify_all();
  if (stream == silent_stream_) return;
  const auto state_of = [this](const v1::HeldLease& lease) {
    const auto found = stream_states_.find(lease.lease_token());
    return found == stream_states_.end() ? v1::LEASE_STATE_HELD : found->second;
  };
  v1::WorkResponse response;
  if (request.has_hello()) {
    v1::WorkWelcome* const welcome = response.mutable_welcome();
    for (const auto& lease : request.hello().leases()) {
      welcome->add_leases()->set_state(state_of(lease));
    }
  }
  if (request.has_heartbeat()) {
    v1::WorkHeartbeatResult* const result = response.add_heartbeats();
    result->set_number(request.heartbeat().number());
    result->mutable_response()->set_session_alive(true);
    result->mutable_response()->set_command(command_);
    for (const auto& lease : request.heartbeat().leases()) {
      result->mutable_response()->add_results()->set_state(state_of(lease));
    }
  }
  for (const v1::WorkSettlement& settlement : request.settlements()) {
    if (holds_results_) break;
    v1::WorkResult* const result = response.add_results();
    result->set_number(settlement.number());
    if (const v1::Refusal* const refusal = NextRefusal()) {
      *result->mutable_refusal() = *refusal;
    } else {
      result->mutable_result()->set_outcome(v1::SETTLE_OUTCOME_SETTLED);
    }
  }
  from->Say(std::move(response));
}

void FakeStreams::Came(int stream, const v1::ProduceRequest& request, ProduceReactor* from) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  produced.push_back({stream, request});
  streams_changed_.notify_all();
  if (holds_answers_) return;
  v1::ProduceResponse response;
  for (const v1::ProduceEnqueue& enqueue : request.enqueues()) {
    v1::ProduceResult* const result = response.add_results();
    result->set_number(enqueue.number());
    if (const v1::Refusal* const refusal = NextRefusal()) {
      *result->mutable_refusal() = *refusal;
      continue;
    }
    for (const v1::NewTask& task : enqueue.request().tasks()) {
      v1::EnqueueResult* const made = result->mutable_response()->add_results();
      made->set_task_id("task-" + task.payload());
      made->set_outcome(v1::ENQUEUE_OUTCOME_CREATED);
    }
  }
  from->Say(std::move(response));
}

grpc::ServerBidiReactor<v1::WorkRequest, v1::WorkResponse>* FakeStreams::Work(
    grpc::CallbackServerContext* context) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  stream_authorization = AuthorizationOf(*context);
  streams_changed_.notify_all();
  return new WorkReactor(*this, ++work_streams, &last_work_);
}

grpc::ServerBidiReactor<v1::ProduceRequest, v1::ProduceResponse>* FakeStreams::Produce(
    grpc::CallbackServerContext* context) {
  const std::lock_guard<std::mutex> lock(streams_mutex_);
  stream_authorization = AuthorizationOf(*context);
  streams_changed_.notify_all();
  return new ProduceReactor(*this, ++produce_streams, &last_produce_);
}

}  // namespace skiplane
