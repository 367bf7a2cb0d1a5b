#include "tests/bench/load/apart.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/load/flow.h"

namespace skiplane::bench {
namespace {

constexpr int kWaitSeconds = 1;
constexpr std::chrono::seconds kCallTimeout{30};

// One call after the other.
class Calls {
 public:
  grpc::ClientContext* New() {
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    begin_ = absl::Now();
    return context_.get();
  }

  absl::Duration took() const { return absl::Now() - begin_; }

 private:
  std::unique_ptr<grpc::ClientContext> context_;
  absl::Time begin_;
};

class Producer {
 public:
  Producer(Stage& stage, size_t number, int tasks, Flow& flow, std::latch& ended)
      : stage_(stage), number_(number), flow_(flow), ended_(ended) {
    for (int i = 0; i < tasks; ++i) request_.add_tasks();
  }

  void Start() {
    flow_.Turn(request_.tasks_size(), [this](std::optional<absl::Time> begin) {
      begin ? Enqueue(*begin) : ended_.count_down();
    });
  }

  Latencies enqueues;

 private:
  void Enqueue(absl::Time begin) {
    request_.set_queue(stage_.queue(number_ + calls_made_++));
    stage_.SetId(request_);
    for (v1::NewTask& task : *request_.mutable_tasks()) task.set_payload(NewPayload(begin));
    stage_.stub(number_).async()->Enqueue(
        calls_.New(), &request_, &response_, [this](const grpc::Status& status) {
          if (!status.ok()) {
            stage_.Fail("Enqueue", status);
            return ended_.count_down();
          }
          if (stage_.is_measured()) enqueues.Add(calls_.took());
          Start();
        });
  }

  Stage& stage_;
  const size_t number_;
  Flow& flow_;
  std::latch& ended_;
  size_t calls_made_ = 0;
  Calls calls_;
  v1::EnqueueRequest request_;
  v1::EnqueueResponse response_;
};

class Worker {
 public:
  Worker(Stage& stage, size_t number, int tasks, Flow& flow, std::latch& ended)
      : stage_(stage), stub_(stage.stub(number)), flow_(flow), ended_(ended) {
    lease_.add_queues()->set_name(stage.queue(number));
    lease_.set_worker_id(absl::StrCat("bench-", number));
    lease_.set_max_tasks(tasks);
    lease_.mutable_wait()->set_seconds(kWaitSeconds);
  }

  void Start() { Lease(); }

  Latencies journeys;  // of tasks
  Latencies leases;
  Latencies acks;

 private:
  void Lease() {
    if (stage_.is_over()) return ended_.count_down();
    stage_.SetId(lease_);
    stub_.async()->Lease(calls_.New(), &lease_, &leased_, [this](const grpc::Status& status) {
      if (!status.ok()) return Failed("Lease", status);
      flow_.Took(leased_.tasks_size());
      if (leased_.tasks().empty()) return Lease();
      if (stage_.is_measured()) leases.Add(calls_.took());
      Read() ? Ack() : ended_.count_down();
    });
  }

  bool Read() {
    const absl::Time now = absl::Now();
    const bool is_measured = stage_.is_measured();
    for (const v1::LeasedTask& task : leased_.tasks()) {
      const std::optional<Payload> payload = stage_.Read(task.payload());
      if (!payload) return false;
      const bool is_new = payload->begin != absl::UnixEpoch();  // not of a backlog made in SQL
      if (is_measured && is_new) journeys.Add(now - payload->begin);
    }
    return true;
  }

  void Ack() {
    ack_.clear_items();
    for (const v1::LeasedTask& task : leased_.tasks()) {
      ack_.add_items()->set_lease_token(task.lease_token());
    }
    stub_.async()->Ack(calls_.New(), &ack_, &acked_, [this](const grpc::Status& status) {
      if (!status.ok()) return Failed("Ack", status);
      if (!AreAllAcked()) return Failed("Ack", {grpc::INTERNAL, "a task was not acked"});
      if (stage_.is_measured()) acks.Add(calls_.took());
      stage_.Count(acked_.results_size());
      Lease();
    });
  }

  bool AreAllAcked() const {
    return std::ranges::all_of(acked_.results(), [](const auto& result) {
      return result.outcome() == v1::SETTLE_OUTCOME_SETTLED;
    });
  }

  void Failed(const char* what, const grpc::Status& status) {
    stage_.Fail(what, status);
    ended_.count_down();
  }

  Stage& stage_;
  v1::BrokerService::Stub& stub_;
  Flow& flow_;
  std::latch& ended_;
  Calls calls_;
  v1::LeaseRequest lease_;
  v1::LeaseResponse leased_;
  v1::AckRequest ack_;
  v1::AckResponse acked_;
};

}  // namespace

std::unique_ptr<Flow> NewFlow(const ApartLoad& load) {
  if (load.tasks_per_s == 0) return std::make_unique<Flow>(load.waiting_most);
  return std::make_unique<Flow>(absl::Seconds(load.tasks_per_enqueue / load.tasks_per_s));
}

Figures RunApart(Stage& stage, const ApartLoad& load) {
  std::latch ended(load.producers + load.workers);
  const std::unique_ptr<Flow> flow = NewFlow(load);
  std::vector<std::unique_ptr<Producer>> producers;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < load.producers; ++i) {
    producers.push_back(
        std::make_unique<Producer>(stage, producers.size(), load.tasks_per_enqueue, *flow, ended));
  }
  for (int i = 0; i < load.workers; ++i) {
    workers.push_back(
        std::make_unique<Worker>(stage, workers.size(), load.tasks_per_lease, *flow, ended));
  }
  for (const auto& worker : workers) worker->Start();
  for (const auto& producer : producers) producer->Start();
  Figures figures = stage.Measure();
  flow->Stop();
  ended.wait();
  figures.parts = {{"enqueue", {}}, {"lease", {}}, {"ack", {}}};
  for (const auto& producer : producers) figures.parts[0].second.Merge(producer->enqueues);
  for (const auto& worker : workers) {
    figures.latencies.Merge(worker->journeys);
    figures.parts[1].second.Merge(worker->leases);
    figures.parts[2].second.Merge(worker->acks);
  }
  return figures;
}

}  // namespace skiplane::bench
