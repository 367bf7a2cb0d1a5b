#include "tests/bench/load/hand_made.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/bench/load/flow.h"
#include "tests/bench/load/sql_tasks.h"
#include "tests/bench/open_connection.h"

namespace skiplane::bench {
namespace {

constexpr std::chrono::milliseconds kLookAgain{5};

constexpr char kTable[] = R"(
CREATE TABLE hand_made (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, priority int NOT NULL DEFAULT 0,
  run_at timestamptz NOT NULL DEFAULT now(), attempts int NOT NULL DEFAULT 0, worker text,
  leased_until timestamptz, payload bytea NOT NULL);
CREATE INDEX hand_made_ready ON hand_made (priority, run_at, id) WHERE leased_until IS NULL)";

constexpr char kInsert[] = "INSERT INTO hand_made (payload) SELECT * FROM unnest($1::bytea[])";

constexpr char kLease[] = R"(
WITH next AS (
  SELECT id FROM hand_made WHERE leased_until IS NULL AND run_at <= now()
  ORDER BY priority, run_at, id LIMIT $2::int FOR UPDATE SKIP LOCKED
)
UPDATE hand_made h
SET worker = $1::text, leased_until = now() + interval '30 s', attempts = h.attempts + 1
FROM next WHERE h.id = next.id RETURNING h.id, h.payload)";

constexpr char kAck[] = "DELETE FROM hand_made WHERE id = ANY ($1::bigint[]) AND worker = $2::text";

class Producer {
 public:
  Producer(Stage& stage, Flow& flow, int tasks)
      : stage_(stage),
        flow_(flow),
        tasks_(static_cast<size_t>(tasks)),
        connection_(stage.broker()) {
    connection_.Prepare("insert", kInsert);
  }

  void Run() {
    while (const auto begin = flow_.WaitForTurn(static_cast<int64_t>(tasks_))) {
      std::vector<std::string> payloads;
      for (size_t i = 0; i < tasks_; ++i) payloads.push_back(NewPayload(*begin));
      const std::vector<absl::string_view> views(payloads.begin(), payloads.end());
      const absl::Time call = absl::Now();
      connection_.RunPrepared("insert", pg::Params().ByteaArray(views));
      if (stage_.is_measured()) enqueues.Add(absl::Now() - call);
    }
  }

  Latencies enqueues;

 private:
  Stage& stage_;
  Flow& flow_;
  const size_t tasks_;
  OpenConnection connection_;
};

class Worker {
 public:
  Worker(Stage& stage, Flow& flow, int number, int tasks)
      : stage_(stage),
        flow_(flow),
        name_(absl::StrCat("worker-", number)),
        tasks_(tasks),
        connection_(stage.broker()) {
    connection_.Prepare("lease", kLease);
    connection_.Prepare("ack", kAck);
  }

  void Run() {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock<std::mutex> lock(mutex);
    while (!stage_.is_over()) {
      const std::vector<int64_t> ids = Lease();
      if (ids.empty()) {
        never.wait_for(lock, kLookAgain, [] { return false; });
        continue;
      }
      const absl::Time begin = absl::Now();
      connection_.RunPrepared("ack", pg::Params().Int8Array(ids).Text(name_));
      if (stage_.is_measured()) acks.Add(absl::Now() - begin);
      stage_.Count(static_cast<int64_t>(ids.size()));
    }
  }

  Latencies journeys;
  Latencies leases;
  Latencies acks;

 private:
  std::vector<int64_t> Lease() {
    const bool is_measured = stage_.is_measured();
    const absl::Time begin = absl::Now();
    const auto rows = connection_.RunPrepared("lease", pg::Params().Text(name_).Int4(tasks_));
    if (is_measured) leases.Add(absl::Now() - begin);
    std::vector<int64_t> ids = ReadSqlTasks(stage_, rows.get(), is_measured ? &journeys : nullptr);
    flow_.Took(static_cast<int64_t>(ids.size()));
    return ids;
  }

  Stage& stage_;
  Flow& flow_;
  const std::string name_;
  const int tasks_;
  OpenConnection connection_;
};

}  // namespace

Figures RunHandMade(Stage& stage, BrokerRun& broker, const ApartLoad& load) {
  broker.Sql(kTable);
  const std::unique_ptr<Flow> flow = NewFlow(load);
  std::vector<std::unique_ptr<Producer>> producers;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < load.producers; ++i) {
    producers.push_back(std::make_unique<Producer>(stage, *flow, load.tasks_per_enqueue));
  }
  for (int i = 0; i < load.workers; ++i) {
    workers.push_back(std::make_unique<Worker>(stage, *flow, i, load.tasks_per_lease));
  }
  broker.Pause();
  std::vector<std::thread> threads;
  for (const auto& worker : workers) threads.emplace_back([&worker = *worker] { worker.Run(); });
  for (const auto& producer : producers) {
    threads.emplace_back([&producer = *producer] { producer.Run(); });
  }
  Figures figures = stage.Measure();
  flow->Stop();
  for (std::thread& thread : threads) thread.join();
  broker.Resume();
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
