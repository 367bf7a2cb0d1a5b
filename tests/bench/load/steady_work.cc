#include "tests/bench/load/steady_work.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/channel.h"
#include "tests/bench/stage.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr int kWorkers = 10;
constexpr int kTasksPerCall = 20;
constexpr std::chrono::milliseconds kInterval{20};  // 10,000 tasks a second in all

void RequireOk(const char* what, const grpc::Status& status) {
  testing::Require(status.ok(), absl::StrCat(what, ": ", status.error_message()));
}

}  // namespace

SteadyWork::SteadyWork(const BrokerRun& broker, const std::string& queue, const std::string& stage)
    : queue_(queue),
      stage_(stage),
      stub_(v1::BrokerService::NewStub(KeptChannel(broker.addresses().front()))),
      leases_(kWorkers) {
  for (int i = 0; i < kWorkers; ++i) threads_.emplace_back([this, i] { Run(i); });
}

SteadyWork::~SteadyWork() { Stop(); }

void SteadyWork::Stop() {
  is_over_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void SteadyWork::Run(int number) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  // Workers begin one after the other, and keep apart.
  auto next = std::chrono::steady_clock::now() + number * kInterval / kWorkers;
  // What the first call enqueues stays in the queue, so that nobody comes to what waits at other
  // priorities when others took what was meant for them.
  Enqueue();
  for (; !is_over_; next = std::max(next + kInterval, std::chrono::steady_clock::now())) {
    never.wait_until(lock, next, [] { return false; });
    Enqueue();
    const absl::Time begin = absl::Now();
    const v1::LeaseResponse leased = LeaseSome(number);
    const absl::Time end = absl::Now();
    leases_[static_cast<size_t>(number)].push_back({end, end - begin});
    Finish(leased);
  }
}

void SteadyWork::Enqueue() {
  v1::EnqueueRequest request;
  request.set_queue(queue_);
  request.set_request_id(NewRequestId());
  for (int i = 0; i < kTasksPerCall; ++i) {
    v1::NewTask* task = request.add_tasks();
    task->set_payload(NewPayload());
    task->set_stage(stage_);
  }
  grpc::ClientContext context;
  v1::EnqueueResponse response;
  RequireOk("Enqueue", stub_->Enqueue(&context, request, &response));
}

v1::LeaseResponse SteadyWork::LeaseSome(int number) {
  v1::LeaseRequest request;
  request.add_queues()->set_name(queue_);
  request.mutable_queues(0)->set_stage(stage_);
  request.set_worker_id(absl::StrCat("steady-", number));
  request.set_max_tasks(kTasksPerCall);
  request.set_request_id(NewRequestId());
  request.mutable_wait()->set_seconds(1);
  grpc::ClientContext context;
  v1::LeaseResponse response;
  RequireOk("Lease", stub_->Lease(&context, request, &response));
  return response;
}

void SteadyWork::Finish(const v1::LeaseResponse& leased) {
  if (leased.tasks().empty()) return;
  v1::AckRequest request;
  for (const v1::LeasedTask& task : leased.tasks()) {
    v1::AckItem* item = request.add_items();
    testing::Require(ReadPayload(task.payload()).has_value(), "a payload is not as it was made");
    item->set_lease_token(task.lease_token());
    item->mutable_finish();
  }
  grpc::ClientContext context;
  v1::AckResponse response;
  RequireOk("Ack", stub_->Ack(&context, request, &response));
  tasks_ += response.results_size();
}

std::vector<SteadyWork::Lease> SteadyWork::LeasesBetween(absl::Time begin, absl::Time end) const {
  std::vector<Lease> all;
  for (const auto& of_worker : leases_) {
    std::ranges::copy_if(of_worker, std::back_inserter(all), [&](const Lease& lease) {
      return lease.end >= begin && lease.end < end;
    });
  }
  std::ranges::sort(all, {}, &Lease::end);
  return all;
}

Latencies SteadyWork::LeasesOf(absl::Time begin, absl::Time end) const {
  Latencies latencies;
  for (const Lease& lease : LeasesBetween(begin, end)) latencies.Add(lease.took);
  return latencies;
}

absl::Duration SteadyWork::LongestGap(absl::Time begin, absl::Time end) const {
  absl::Duration longest;
  absl::Time last = begin;
  for (const Lease& lease : LeasesBetween(begin, end)) {
    longest = std::max(longest, lease.end - last);
    last = lease.end;
  }
  return std::max(longest, end - last);
}

}  // namespace skiplane::bench
