// Callers in a closed loop: each enqueues, leases, acks and begins anew, all on gRPC's threads.
#include "tests/bench/load/cycle.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr int kWaitSeconds = 1;
constexpr std::chrono::seconds kCallTimeout{30};

class Caller {
 public:
  Caller(Stage& stage, int number, const CycleLoad& load, std::latch& ended)
      : stage_(stage),
        number_(static_cast<size_t>(number)),
        stub_(stage.stub(number_)),
        is_draining_(load.is_draining),
        is_chained_(load.is_chained),
        ended_(ended) {
    for (int i = 0; i < load.tasks_per_call; ++i) enqueue_.add_tasks();
    lease_.add_queues();
    lease_.set_worker_id(absl::StrCat("bench-", number));
    lease_.set_max_tasks(load.tasks_per_call);
    lease_.mutable_wait()->set_seconds(kWaitSeconds);
  }

  void Start() { Begin(); }

  Latencies cycles;
  Latencies enqueues;
  Latencies leases;
  Latencies acks;

 private:
  // Callers go through the queues in turn, each at a place of its own.
  void Begin() {
    if (stage_.is_over()) return ended_.count_down();
    cycle_begin_ = absl::Now();
    const std::string& queue = stage_.queue(number_ * (stage_.queues() / 10) + cycles_++);
    enqueue_.set_queue(queue);
    lease_.mutable_queues(0)->set_name(queue);
    is_draining_ ? Take() : Enqueue();
  }

  // What the last ack leased is next, if it leased something.
  void Take() { leased_.tasks().empty() ? Lease() : Ack(); }

  void Enqueue() {
    stage_.SetId(enqueue_);
    for (v1::NewTask& task : *enqueue_.mutable_tasks()) task.set_payload(NewPayload());
    stub_.async()->Enqueue(NewCall(), &enqueue_, &enqueued_, [this](grpc::Status status) {
      if (Ended("Enqueue", status, enqueues)) Take();
    });
  }

  void Lease() {
    stage_.SetId(lease_);
    stub_.async()->Lease(NewCall(), &lease_, &leased_, [this](grpc::Status status) {
      if (!Ended("Lease", status, leases)) return;
      // A chain is one task ahead: what the first ack leases must be there.
      const bool begins_chain = is_chained_ && !is_draining_ && !leased_.tasks().empty();
      begins_chain ? Enqueue() : Ack();
    });
  }

  void Ack() {
    if (leased_.tasks().empty()) return Begin();
    ack_.clear_items();
    for (const v1::LeasedTask& task : leased_.tasks()) {
      if (!stage_.Read(task.payload())) return ended_.count_down();
      ack_.add_items()->set_lease_token(task.lease_token());
    }
    if (is_chained_) {
      stage_.SetId(lease_);
      *ack_.mutable_lease_next() = lease_;
    }
    stub_.async()->Ack(NewCall(), &ack_, &acked_, [this](grpc::Status status) {
      if (!Ended("Ack", status, acks)) return;
      if (!AreAllAcked()) return Failed("Ack", {grpc::INTERNAL, "a task was not acked"});
      stage_.Count(acked_.results_size());
      leased_ = std::move(*acked_.mutable_lease());
      if (stage_.is_measured()) cycles.Add(absl::Now() - cycle_begin_);
      Begin();
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
      return result.outcome() == v1::SETTLE_OUTCOME_SETTLED;
    });
  }

  Stage& stage_;
  const size_t number_;
  v1::BrokerService::Stub& stub_;
  const bool is_draining_;
  const bool is_chained_;
  std::latch& ended_;
  size_t cycles_ = 0;
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

Figures RunCycle(Stage& stage, const CycleLoad& load) {
  std::latch ended(load.callers);
  std::vector<std::unique_ptr<Caller>> all;
  for (int i = 0; i < load.callers; ++i) {
    all.push_back(std::make_unique<Caller>(stage, i, load, ended));
  }
  for (const auto& caller : all) caller->Start();
  Figures figures = load.backlog > 0 ? stage.MeasureUntil(load.backlog) : stage.Measure();
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
