// Twenty queues with little to do, alone and beside one with a large backlog and many workers: how
// long their tasks are on the way into a worker's hands, and what the large one pays for them.
#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/preload.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr int kSmallQueues = 20;
constexpr std::chrono::milliseconds kSmallEvery{25};  // between two tasks of them together
constexpr int kSmallWaitSeconds = 20;
constexpr int kLargeWorkers = 64;
constexpr int64_t kLargeBacklog = 1'000'000;
constexpr absl::Duration kMeasuredMost = absl::Seconds(10);  // or the backlog would be used up

// How many calls are under way. Thread-safe.
class OpenCalls {
 public:
  void Begin() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
  }
  void End() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--count_ == 0) changed_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// A worker of one queue: it leases one task after the other, and waits for each.
class SmallWorker {
 public:
  SmallWorker(Stage& stage, size_t number, OpenCalls& calls)
      : stage_(stage), stub_(stage.stub(number)), calls_(calls) {
    lease_.add_queues()->set_name(stage.queue(number));
    lease_.set_worker_id(absl::StrCat("small-", number));
    lease_.set_max_tasks(1);
    lease_.mutable_wait()->set_seconds(kSmallWaitSeconds);
  }

  void Start() {
    calls_.Begin();
    Lease();
  }

  // The stage must be over.
  void Cut() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

  Latencies latencies;

 private:
  void Lease() {
    stage_.SetId(lease_);
    stub_.async()->Lease(NewCall(), &lease_, &leased_, [this](const grpc::Status& status) {
      if (stage_.is_over()) return calls_.End();
      if (!status.ok()) return Failed("Lease", status);
      if (leased_.tasks().empty()) return Lease();
      const auto payload = stage_.Read(leased_.tasks(0).payload());
      if (!payload) return calls_.End();
      if (stage_.is_measured()) latencies.Add(absl::Now() - payload->begin);
      Ack();
    });
  }

  void Ack() {
    ack_.clear_items();
    ack_.add_items()->set_lease_token(leased_.tasks(0).lease_token());
    stub_.async()->Ack(NewCall(), &ack_, &acked_, [this](const grpc::Status& status) {
      if (stage_.is_over()) return calls_.End();
      if (!status.ok()) return Failed("Ack", status);
      stage_.Count(1);
      Lease();
    });
  }

  grpc::ClientContext* NewCall() {
    const std::lock_guard<std::mutex> lock(mutex_);
    context_ = std::make_unique<grpc::ClientContext>();
    if (stage_.is_over()) context_->TryCancel();
    return context_.get();
  }

  void Failed(const char* what, const grpc::Status& status) {
    stage_.Fail(what, status);
    calls_.End();
  }

  Stage& stage_;
  v1::BrokerService::Stub& stub_;
  OpenCalls& calls_;
  v1::LeaseRequest lease_;
  v1::LeaseResponse leased_;
  v1::AckRequest ack_;
  v1::AckResponse acked_;
  std::mutex mutex_;
  std::unique_ptr<grpc::ClientContext> context_;
};

struct SmallEnqueue {
  grpc::ClientContext context;
  v1::EnqueueRequest request;
  v1::EnqueueResponse response;
};

// One task per interval, for each queue in turn, however long the calls take.
void ProduceSmall(Stage& stage, OpenCalls& calls) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  auto next = std::chrono::steady_clock::now();
  for (size_t number = 0; !stage.is_over(); ++number) {
    next += kSmallEvery;
    never.wait_until(lock, next, [] { return false; });
    auto call = std::make_shared<SmallEnqueue>();
    call->request.set_queue(stage.queue(number));
    call->request.add_tasks()->set_payload(NewPayload(absl::Now()));
    stage.SetId(call->request);
    calls.Begin();
    stage.stub().async()->Enqueue(&call->context, &call->request, &call->response,
                                  [&stage, &calls, call](const grpc::Status& status) {
                                    if (!status.ok()) stage.Fail("Enqueue", status);
                                    calls.End();
                                  });
  }
}

Figures RunSmall(Stage& stage) {
  OpenCalls calls;
  std::vector<std::unique_ptr<SmallWorker>> workers;
  for (size_t i = 0; i < kSmallQueues; ++i) {
    workers.push_back(std::make_unique<SmallWorker>(stage, i, calls));
    workers.back()->Start();
  }
  std::thread producing([&] { ProduceSmall(stage, calls); });
  Figures figures = stage.Measure();
  producing.join();
  for (const auto& worker : workers) worker->Cut();
  calls.Wait();
  for (const auto& worker : workers) figures.latencies.Merge(worker->latencies);
  return figures;
}

Figures RunLarge(Stage& stage) {
  return RunCycle(stage, {.callers = kLargeWorkers, .is_draining = true});
}

}  // namespace

void RunNeighbours(Bench& bench, const std::string& name) {
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  Options options = bench.options();
  options.seconds = std::min(options.seconds, kMeasuredMost);
  const auto small = absl::StrCat(name, "-small");
  Stage small_alone(absl::StrCat(small, "-alone"), *broker, options, kSmallQueues);
  Stage small_beside(small, *broker, options, kSmallQueues);
  Stage large_alone(absl::StrCat(name, "-alone"), *broker, options);
  Stage large_beside(name, *broker, options);
  PreloadRows(*broker, large_alone.queue(), Preload::kReady, bench.Scaled(kLargeBacklog));
  PreloadRows(*broker, large_beside.queue(), Preload::kReady, bench.Scaled(kLargeBacklog));

  Figures alone = RunSmall(small_alone);
  const double large_rate = TasksPerSecond(RunLarge(large_alone));
  Figures beside;
  std::thread running([&] { beside = RunSmall(small_beside); });
  Figures figures = RunLarge(large_beside);
  running.join();

  const double alone_p99 = alone.latencies.PercentileMs(0.99);
  figures.extras = {{"alone_p50_ms", alone.latencies.PercentileMs(0.5)},
                    {"alone_p99_ms", alone_p99},
                    {"p99_ratio", beside.latencies.PercentileMs(0.99) / alone_p99},
                    {"small_tasks_per_s", TasksPerSecond(beside)},
                    {"large_alone_tasks_per_s", large_rate},
                    {"large_share", TasksPerSecond(figures) / large_rate}};
  figures.latencies = std::move(beside.latencies);
  bench.Print(std::move(figures));
}

}  // namespace skiplane::bench
