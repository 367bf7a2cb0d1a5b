#include "tests/bench/load/classic.h"

#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "tests/bench/load/sql_tasks.h"
#include "tests/bench/open_connection.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr int kWorkers = 100;
constexpr int kSpareConnections = 50;

// As the rows of Preload::kPeriodic. $0 rows, $1 payload, $2 where it is from.
constexpr char kTable[] = R"(
CREATE TABLE classic (
  id bigint PRIMARY KEY, next_run timestamptz NOT NULL, period interval NOT NULL,
  payload bytea NOT NULL, owner text, locked_at timestamptz);
INSERT INTO classic (id, next_run, period, payload)
SELECT n, now() - interval '1 hour' + n * interval '1 microsecond', '10 s', $1
FROM generate_series(1, $0) n $2)";

constexpr char kIndex[] = "CREATE INDEX classic_due ON classic (next_run) WHERE owner IS NULL";

// Prepared, which not every service does.
constexpr char kTake[] = R"(
UPDATE classic SET owner = $1::text, locked_at = now()
WHERE id IN (SELECT id FROM classic WHERE next_run <= now() AND owner IS NULL
             ORDER BY next_run LIMIT 10 FOR UPDATE SKIP LOCKED)
RETURNING id, payload)";

constexpr char kAck[] = R"(
UPDATE classic SET next_run = next_run + period, owner = NULL, locked_at = NULL
WHERE id = ANY ($2::bigint[]) AND owner = $1::text)";

void MakeTable(BrokerRun& broker, int64_t tasks) {
  broker.Sql(absl::StrCat("ALTER SYSTEM SET max_connections = ", kWorkers + kSpareConnections));
  broker.Restart();
  MakePayloadBodies(broker);
  broker.Sql(absl::Substitute(kTable, tasks, SqlPayload("n"), kPayloadBodies));
  broker.Sql(kIndex);
  broker.Sql("VACUUM ANALYZE classic");
  broker.Sql("CHECKPOINT");
}

class Worker {
 public:
  Worker(Stage& stage, int number)
      : stage_(stage), name_(absl::StrCat("worker-", number)), connection_(stage.broker()) {
    connection_.Prepare("take", kTake);
    connection_.Prepare("ack", kAck);
  }

  void Run() {
    while (!stage_.is_over()) {
      const absl::Time begin = absl::Now();
      const std::vector<int64_t> ids =
          ReadSqlTasks(stage_, connection_.RunPrepared("take", pg::Params().Text(name_)).get());
      if (ids.empty()) continue;
      connection_.RunPrepared("ack", pg::Params().Text(name_).Int8Array(ids));
      stage_.Count(static_cast<int64_t>(ids.size()));
      if (stage_.is_measured()) cycles.Add(absl::Now() - begin);
    }
  }

  Latencies cycles;

 private:
  Stage& stage_;
  const std::string name_;
  OpenConnection connection_;
};

}  // namespace

Figures RunClassic(const std::string& name, BrokerRun& broker, const Options& options,
                   int64_t tasks) {
  MakeTable(broker, tasks);
  Stage stage(name, broker, options);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < kWorkers; ++i) workers.push_back(std::make_unique<Worker>(stage, i));
  std::vector<std::thread> threads;
  for (const auto& worker : workers) threads.emplace_back([&worker = *worker] { worker.Run(); });
  Figures figures = stage.Measure();
  for (std::thread& thread : threads) thread.join();
  for (const auto& worker : workers) figures.latencies.Merge(worker->cycles);
  return figures;
}

}  // namespace skiplane::bench
