// Known keys that are enqueued again and again, beside workers who finish their tasks: by callers
// who all mean the same keys, each in an order of its own, and by callers who share none.
#include <grpcpp/client_context.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr size_t kKeys = 200;
constexpr size_t kCallers = 8;  // over two brokers
constexpr size_t kWorkers = 2;
constexpr int kTasksPerLease = 50;

struct Kind {
  const char* name;
  v1::KeyPolicy policy;
};

class KeyedCaller {
 public:
  KeyedCaller(Stage& stage, size_t number, v1::KeyPolicy policy, bool is_shared)
      : stage_(stage), number_(number), random_(static_cast<unsigned>(number)) {
    request_.set_queue(stage.queue());
    for (size_t i = 0; i < kKeys; ++i) {
      v1::NewTask* const task = request_.add_tasks();
      task->set_key(absl::StrCat(is_shared ? 0 : number, "-", i));
      task->set_key_policy(policy);
      order_.push_back(static_cast<int>(i));
    }
  }

  void Run() {
    while (!stage_.is_over()) {
      const v1::EnqueueRequest request = Shuffled();
      const absl::Time begin = absl::Now();
      grpc::ClientContext context;
      v1::EnqueueResponse response;
      const grpc::Status status = stage_.stub(number_).Enqueue(&context, request, &response);
      if (!status.ok()) return stage_.Fail("Enqueue", status);
      stage_.Count(static_cast<int64_t>(kKeys));
      if (stage_.is_measured()) latencies_.Add(absl::Now() - begin);
    }
  }

  const Latencies& latencies() const { return latencies_; }

 private:
  // Newer than whatever was enqueued before.
  v1::EnqueueRequest Shuffled() {
    static std::atomic<int64_t> version = 0;
    const int64_t newest = ++version;
    v1::EnqueueRequest request;
    request.set_queue(request_.queue());
    stage_.SetId(request);
    std::ranges::shuffle(order_, random_);
    for (const int i : order_) {
      v1::NewTask* const task = request.add_tasks();
      *task = request_.tasks(i);
      task->set_payload(NewPayload());
      task->set_version(newest);
    }
    return request;
  }

  Stage& stage_;
  const size_t number_;
  std::mt19937 random_;
  v1::EnqueueRequest request_;
  std::vector<int> order_;
  Latencies latencies_;
};

// Leases and acks; the tasks come to their end, or run once more when something newer came.
void Work(Stage& stage, size_t number) {
  v1::LeaseRequest request;
  request.add_queues()->set_name(stage.queue());
  request.set_worker_id(absl::StrCat("keyed-", number));
  request.set_max_tasks(kTasksPerLease);
  request.mutable_wait()->set_seconds(1);
  while (!stage.is_over()) {
    grpc::ClientContext leasing;
    v1::LeaseResponse leased;
    stage.SetId(request);
    grpc::Status status = stage.stub(number).Lease(&leasing, request, &leased);
    if (!status.ok()) return stage.Fail("Lease", status);
    if (leased.tasks().empty()) continue;
    v1::AckRequest acks;
    for (const v1::LeasedTask& task : leased.tasks()) {
      if (!stage.Read(task.payload())) return;
      acks.add_items()->set_lease_token(task.lease_token());
    }
    grpc::ClientContext acking;
    v1::AckResponse acked;
    status = stage.stub(number).Ack(&acking, acks, &acked);
    if (!status.ok()) return stage.Fail("Ack", status);
  }
}

Figures Measure(const std::string& name, const BrokerRun& broker, const Options& options,
                v1::KeyPolicy policy, bool is_shared) {
  Stage stage(name, broker, options);
  std::vector<KeyedCaller> callers;
  callers.reserve(kCallers);
  for (size_t i = 0; i < kCallers; ++i) callers.emplace_back(stage, i, policy, is_shared);
  std::vector<std::thread> threads;
  for (KeyedCaller& caller : callers) threads.emplace_back([&caller] { caller.Run(); });
  for (size_t i = 0; i < kWorkers; ++i) threads.emplace_back([&stage, i] { Work(stage, i); });
  Figures figures = stage.Measure();
  for (std::thread& thread : threads) thread.join();
  for (const KeyedCaller& caller : callers) figures.latencies.Merge(caller.latencies());
  return figures;
}

double CallsPerSecond(const Figures& figures) {
  return TasksPerSecond(figures) / static_cast<double>(kKeys);
}

double Deadlocks(const BrokerRun& broker) {
  return static_cast<double>(broker.SqlNumber("SELECT sum(deadlocks) FROM pg_stat_database"));
}

// Transactions that were broken off, conflicts that the brokers repeated nearly all of them.
double RolledBack(const BrokerRun& broker) {
  return static_cast<double>(broker.SqlNumber("SELECT sum(xact_rollback) FROM pg_stat_database"));
}

}  // namespace

void RunKeyed(Bench& bench, const std::string& name) {
  constexpr std::array<Kind, 2> kKinds = {Kind{"rerun", v1::KEY_POLICY_RERUN_IF_NEWER},
                                          Kind{"replace", v1::KEY_POLICY_REPLACE_WAITING}};
  const std::unique_ptr<BrokerRun> broker = bench.Fresh();
  broker->AddBroker();
  for (const Kind& kind : kKinds) {
    const std::string scenario = absl::StrCat(name, "_", kind.name);
    Figures apart = Measure(absl::StrCat(scenario, "-disjoint"), *broker, bench.options(),
                            kind.policy, /*is_shared=*/false);
    const double deadlocks = Deadlocks(*broker);
    const double rolled_back = RolledBack(*broker);
    Figures figures =
        Measure(scenario, *broker, bench.options(), kind.policy, /*is_shared=*/true);
    const double p99 = figures.latencies.PercentileMs(0.99);
    const double p99_apart = apart.latencies.PercentileMs(0.99);
    figures.extras = {{"calls_per_s", CallsPerSecond(figures)},
                      {"disjoint_calls_per_s", CallsPerSecond(apart)},
                      {"disjoint_p50_ms", apart.latencies.PercentileMs(0.5)},
                      {"disjoint_p99_ms", p99_apart},
                      {"p99_ratio", p99 / p99_apart},
                      {"deadlocks", Deadlocks(*broker) - deadlocks},
                      {"rolled_back", RolledBack(*broker) - rolled_back}};
    bench.Print(std::move(figures));
  }
}

}  // namespace skiplane::bench
