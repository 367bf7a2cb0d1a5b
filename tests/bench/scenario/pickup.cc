// The time of a task from the start of its Enqueue into the hands of a worker that waits for it.
#include <grpcpp/client_context.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/time/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr std::chrono::milliseconds kInterval{20};
constexpr int kWaitSeconds = 20;

// Enqueues one task per interval until the stage is over; a call that takes longer delays the next.
void Produce(Stage& stage) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  v1::EnqueueRequest request;
  request.set_queue(stage.queue());
  request.add_tasks();
  auto next = std::chrono::steady_clock::now();
  while (!stage.is_over()) {
    next += kInterval;
    never.wait_until(lock, next, [] { return false; });
    stage.SetId(request);
    request.mutable_tasks(0)->set_payload(NewPayload(absl::Now()));
    grpc::ClientContext context;
    v1::EnqueueResponse response;
    const grpc::Status status = stage.stub().Enqueue(&context, request, &response);
    if (!status.ok()) return stage.Fail("Enqueue", status);
  }
}

// Leases one task after the other until the stage is over and the last call's wait is cut.
class Waiter {
 public:
  explicit Waiter(Stage& stage) : stage_(stage) {
    request_.add_queues()->set_name(stage.queue());
    request_.set_worker_id("bench-waiter");
    request_.set_max_tasks(1);
    request_.mutable_wait()->set_seconds(kWaitSeconds);
  }

  void Run() {
    while (!stage_.is_over()) {
      v1::LeaseResponse response;
      stage_.SetId(request_);
      const grpc::Status status = stage_.stub().Lease(NewCall(), request_, &response);
      if (status.error_code() == grpc::CANCELLED && stage_.is_over()) return;
      if (!status.ok()) return stage_.Fail("Lease", status);
      if (response.tasks().empty()) continue;
      const auto payload = stage_.Read(response.tasks(0).payload());
      if (!payload) return;
      if (stage_.is_measured()) journeys.Add(absl::Now() - payload->begin);
      Ack(response.tasks(0).lease_token());
    }
  }

  // The stage must be over.
  void Cut() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

  Latencies journeys;  // to be read after Run

 private:
  grpc::ClientContext* NewCall() {
    const std::lock_guard<std::mutex> lock(mutex_);
    context_ = std::make_unique<grpc::ClientContext>();
    if (stage_.is_over()) context_->TryCancel();
    return context_.get();
  }

  void Ack(const std::string& token) {
    v1::AckRequest request;
    request.add_items()->set_lease_token(token);
    v1::AckResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stage_.stub().Ack(&context, request, &response);
    if (!status.ok()) return stage_.Fail("Ack", status);
    stage_.Count(1);
  }

  Stage& stage_;
  v1::LeaseRequest request_;
  std::mutex mutex_;
  std::unique_ptr<grpc::ClientContext> context_;
};

}  // namespace

void RunPickup(Bench& bench, const std::string& name) {
  Stage stage(name, bench.shared(), bench.options());
  Waiter waiter(stage);
  std::thread waiting([&waiter] { waiter.Run(); });
  std::thread producing([&stage] { Produce(stage); });
  Figures figures = stage.Measure();
  waiter.Cut();
  waiting.join();
  producing.join();
  figures.latencies = waiter.journeys;
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
