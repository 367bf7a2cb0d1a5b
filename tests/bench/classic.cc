#include "tests/bench/classic.h"

#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "tests/bench/open_connection.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {
namespace {

constexpr int kWorkers = 100;
constexpr int kSpareConnections = 50;

// As the rows of Preload::kPeriodic; how many is to be added.
constexpr char kTable[] = R"(
CREATE TABLE classic (
  id bigint PRIMARY KEY, next_run timestamptz NOT NULL, period interval NOT NULL,
  payload bytea NOT NULL, owner text, locked_at timestamptz);
INSERT INTO classic (id, next_run, period, payload)
SELECT n, now() - interval '1 hour' + n * interval '1 microsecond', '10 s',
       decode(repeat(md5(n::text), 12) || repeat('5', 16), 'hex')
FROM generate_series(1, )";

constexpr char kIndex[] = "CREATE INDEX classic_due ON classic (next_run) WHERE owner IS NULL";

// Prepared, which not every service does.
constexpr char kStatements[] = R"(
PREPARE take(text) AS
UPDATE classic SET owner = $1, locked_at = now()
WHERE id IN (SELECT id FROM classic WHERE next_run <= now() AND owner IS NULL
             ORDER BY next_run LIMIT 10 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;
PREPARE ack(text, bigint[]) AS
UPDATE classic SET next_run = next_run + period, owner = NULL, locked_at = NULL
WHERE id = ANY ($2) AND owner = $1)";

void MakeTable(BrokerRun& broker, int64_t tasks) {
  broker.Sql(absl::StrCat("ALTER SYSTEM SET max_connections = ", kWorkers + kSpareConnections));
  broker.Restart();
  broker.Sql(absl::StrCat(kTable, tasks, ") n"));
  broker.Sql(kIndex);
  broker.Sql("VACUUM ANALYZE classic");
  broker.Sql("CHECKPOINT");
}

class Worker {
 public:
  Worker(Stage& stage, int number)
      : stage_(stage), name_(absl::StrCat("'worker-", number, "'")), connection_(stage.broker()) {
    connection_.Run(kStatements);
  }

  void Run() {
    while (!stage_.is_over()) {
      const absl::Time begin = absl::Now();
      const std::vector<std::string> ids =
          connection_.Column(absl::StrCat("EXECUTE take(", name_, ")"));
      if (ids.empty()) continue;
      connection_.Run(
          absl::StrCat("EXECUTE ack(", name_, ", '{", absl::StrJoin(ids, ","), "}')"));
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
