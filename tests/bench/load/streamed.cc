#include "tests/bench/load/streamed.h"

#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "skiplane/client.h"
#include "skiplane/worker.h"
#include "tests/bench/load/flow.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

skiplane::Client Connect(const Stage& stage) {
  auto client = skiplane::Client::Connect({.addresses = stage.broker().addresses()});
  testing::Require(client.ok(), client.status().ToString());
  return *std::move(client);
}

void Fail(Stage& stage, const char* what, const absl::Status& status) {
  stage.Fail(what, {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())});
}

// One enqueue after the other, of one task each, beside others that share the client's stream.
class Enqueues {
 public:
  Enqueues(Stage& stage, skiplane::Client client, Flow& flow, std::latch& ended)
      : stage_(stage), client_(std::move(client)), flow_(flow), ended_(ended) {}

  void Start() {
    flow_.Turn(1, [this](std::optional<absl::Time> begin) {
      begin ? Enqueue(*begin) : ended_.count_down();
    });
  }

  Latencies latencies;

 private:
  void Enqueue(absl::Time begin) {
    skiplane::EnqueueCall call{.queue = stage_.queue(),
                               .without_request_id = !stage_.options().enqueue_ids};
    call.tasks.push_back({.payload = NewPayload(begin)});
    const absl::Time sent = absl::Now();
    client_.EnqueueAsync(std::move(call), [this, sent](const auto& results) {
      if (!results.ok()) {
        Fail(stage_, "Enqueue", results.status());
        return ended_.count_down();
      }
      if (stage_.is_measured()) latencies.Add(absl::Now() - sent);
      Start();
    });
  }

  Stage& stage_;
  skiplane::Client client_;
  Flow& flow_;
  std::latch& ended_;
};

// A worker of the library, with a connection of its own as in a process of its own.
class Works {
 public:
  Works(Stage& stage, Flow& flow, const StreamLoad& load)
      : stage_(stage), flow_(flow), work_(load.work) {
    skiplane::WorkerOptions options{.queues = {{.name = stage.queue()}},
                                    .concurrency = load.threads,
                                    .prefetch = load.credit - load.threads};
    options.on_error = [this](const absl::Status& status) { Fail(stage_, "Work", status); };
    options.on_attempt_end = [this](const skiplane::LeasedTask&, skiplane::AttemptEnd end) {
      if (end == skiplane::AttemptEnd::kDone) stage_.Count(1);
    };
    auto worker = skiplane::Worker::Start(
        Connect(stage), std::move(options),
        [this](const skiplane::LeasedTask& task, skiplane::Attempt&) { return Work(task); });
    testing::Require(worker.ok(), worker.status().ToString());
    worker_ = *std::move(worker);
  }

  void Stop() {
    worker_->Stop();
    const skiplane::WorkerCounts counts = worker_->counts();
    const int64_t others = counts.retried + counts.failed + counts.cancelled + counts.lost;
    testing::Require(others == 0, absl::StrCat(others, " attempts did not succeed"));
  }

  Latencies journeys;  // of tasks

 private:
  skiplane::Result Work(const skiplane::LeasedTask& task) {
    const absl::Time now = absl::Now();
    flow_.Took(1);
    if (const std::optional<Payload> payload = stage_.Read(task.payload)) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stage_.is_measured()) journeys.Add(now - payload->begin);
    }
    std::unique_lock<std::mutex> lock(working_);
    never_.wait_for(lock, absl::ToChronoNanoseconds(work_), [] { return false; });
    return skiplane::Result::Done();
  }

  Stage& stage_;
  Flow& flow_;
  const absl::Duration work_;
  std::mutex mutex_;
  std::mutex working_;
  std::condition_variable never_;
  std::unique_ptr<skiplane::Worker> worker_;
};

}  // namespace

Figures RunStreamed(Stage& stage, const StreamLoad& load) {
  const std::unique_ptr<Flow> flow =
      NewFlow({.tasks_per_enqueue = 1, .tasks_per_s = load.tasks_per_s,
               .waiting_most = load.waiting_most});
  std::vector<std::unique_ptr<Works>> workers;
  for (int i = 0; i < load.workers; ++i) {
    workers.push_back(std::make_unique<Works>(stage, *flow, load));
  }
  const skiplane::Client client = Connect(stage);
  std::latch ended(load.outstanding);
  std::vector<std::unique_ptr<Enqueues>> producers;
  for (int i = 0; i < load.outstanding; ++i) {
    producers.push_back(std::make_unique<Enqueues>(stage, client, *flow, ended));
  }
  for (const auto& producer : producers) producer->Start();
  Figures figures = stage.Measure();
  flow->Stop();
  ended.wait();
  for (const auto& worker : workers) worker->Stop();
  figures.parts = {{"enqueue", {}}};
  for (const auto& producer : producers) figures.parts[0].second.Merge(producer->latencies);
  for (const auto& worker : workers) figures.latencies.Merge(worker->journeys);
  return figures;
}

}  // namespace skiplane::bench
