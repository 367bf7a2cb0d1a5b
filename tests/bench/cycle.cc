// Callers in a closed loop: each enqueues, leases, acks and begins anew, all on gRPC's threads.
#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/scenario.h"

namespace skiplane::bench {
namespace {

constexpr int kWaitSeconds = 1;
constexpr std::chrono::seconds kCallTimeout{30};

class Caller {
 public:
  Caller(Stage& stage, int number, int tasks, std::latch& ended)
      : stage_(stage), number_(number), ended_(ended) {
    enqueue_.set_queue(stage.queue());
    for (int i = 0; i < tasks; ++i) enqueue_.add_tasks()->set_payload(RandomPayload());
    lease_.add_queues()->set_name(stage.queue());
    lease_.set_worker_id(absl::StrCat("bench-", number));
    lease_.set_max_tasks(tasks);
    lease_.mutable_wait()->set_seconds(kWaitSeconds);
  }

  void Start() { Enqueue(); }

  Latencies cycles;
  Latencies enqueues;
  Latencies leases;
  Latencies acks;

 private:
  void Enqueue() {
    if (stage_.is_over()) return ended_.count_down();
    cycle_begin_ = absl::Now();
    if (stage_.options().request_ids) enqueue_.set_request_id(NextId());
    stage_.stub().async()->Enqueue(NewCall(), &enqueue_, &enqueued_, [this](grpc::Status status) {
      if (Ended("Enqueue", status, enqueues)) Lease();
    });
  }

  void Lease() {
    if (stage_.options().request_ids) lease_.set_request_id(NextId());
    stage_.stub().async()->Lease(NewCall(), &lease_, &leased_, [this](grpc::Status status) {
      if (Ended("Lease", status, leases)) Ack();
    });
  }

  void Ack() {
    if (leased_.tasks().empty()) return Enqueue();
    ack_.clear_items();
    for (const v1::LeasedTask& task : leased_.tasks()) {
      ack_.add_items()->set_lease_token(task.lease_token());
    }
    stage_.stub().async()->Ack(NewCall(), &ack_, &acked_, [this](grpc::Status status) {
      if (!Ended("Ack", status, acks)) return;
      if (!AreAllAcked()) return Failed("Ack", {grpc::INTERNAL, "a task was not acked"});
      stage_.Count(acked_.results_size());
      if (stage_.is_measured()) cycles.Add(absl::Now() - cycle_begin_);
      Enqueue();
    });
  }

  grpc::ClientContext* NewCall() {
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    call_begin_ = absl::Now();
    return context_.get();
  }

  bool Ended(const char* what, const grpc::Status& status, Latencies& latencies) {
    if (!status.ok()) return Failed(what, status), false;
    if (stage_.is_measured()) latencies.Add(absl::Now() - call_begin_);
    return true;
  }

  void Failed(const char* what, const grpc::Status& status) {
    stage_.Fail(what, status);
    ended_.count_down();
  }

  bool AreAllAcked() const {
    return std::all_of(acked_.results().begin(), acked_.results().end(), [](const auto& result) {
      return result.outcome() == v1::ACK_OUTCOME_ACKED;
    });
  }

  std::string NextId() { return absl::StrCat(number_, "-", ++ids_); }

  Stage& stage_;
  const int number_;
  std::latch& ended_;
  int64_t ids_ = 0;
  absl::Time cycle_begin_;
  absl::Time call_begin_;
  std::unique_ptr<grpc::ClientContext> context_;
  v1::EnqueueRequest enqueue_;
  v1::EnqueueResponse enqueued_;
  v1::LeaseRequest lease_;
  v1::LeaseResponse leased_;
  v1::AckRequest ack_;
  v1::AckResponse acked_;
};

}  // namespace

Figures RunCycle(const std::string& name, int callers, int tasks_per_call,
                 const BrokerRun& broker, const Options& options) {
  Stage stage(name, broker, options);
  std::latch ended(callers);
  std::vector<std::unique_ptr<Caller>> all;
  for (int i = 0; i < callers; ++i) {
    all.push_back(std::make_unique<Caller>(stage, i, tasks_per_call, ended));
  }
  for (const auto& caller : all) caller->Start();
  Figures figures = stage.Measure();
  ended.wait();
  figures.parts = {{"enqueue", {}}, {"lease", {}}, {"ack", {}}};
  for (const auto& caller : all) {
    figures.latencies.Merge(caller->cycles);
    figures.parts[0].second.Merge(caller->enqueues);
    figures.parts[1].second.Merge(caller->leases);
    figures.parts[2].second.Merge(caller->acks);
  }
  return figures;
}

}  // namespace skiplane::bench
