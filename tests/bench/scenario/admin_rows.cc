#include "tests/bench/scenario/admin_rows.h"

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/substitute.h"
#include "tests/bench/load/sql_tasks.h"
#include "tests/bench/preload.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kRowsPerCommit = 250'000;

// Of all statements: $0 lane, $1 first id, $2 rows, $3 error groups, $4 tenants, $5 priority,
// $6 stages, $7 a payload, $8 where it is from.
constexpr char kWaiting[] = R"(
WITH made AS (
  INSERT INTO skiplane.task
    (lane, id, schedule_time, create_time, due, attempt, max_attempts, stage, priority, key,
     headers, error_type, error_fingerprint, error_text, payload)
  SELECT $0, $1 + n, x.at, now() - interval '1 day', skiplane.due_slot(x.at, now()),
         (n % 10 = 9)::int, 10, n % $6, $5, CASE WHEN n % 4 = 0 THEN 'order-' || $1 + n END,
         jsonb_build_object('tenant', 't' || n % $4), CASE WHEN n % 10 = 9 THEN 'Timeout' END,
         CASE WHEN n % 10 = 9 THEN 'print-' || n / 10 % $3 END,
         CASE WHEN n % 10 = 9 THEN 'no answer'::bytea END,
         $7
  FROM generate_series(0, $2 - 1) n $8
  CROSS JOIN LATERAL (
    SELECT now() + CASE WHEN n % 10 < 8 THEN interval '-1 hour' ELSE interval '10 days' END
           + n * interval '1 microsecond' AS at) x
  RETURNING id, stage, due, key, error_fingerprint
), keyed AS (
  INSERT INTO skiplane.task_key (lane, key, task_id)
  SELECT $0, m.key, m.id FROM made m WHERE m.key IS NOT NULL
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
  SELECT $0, m.stage, m.due, count(*) FROM made m GROUP BY m.stage, m.due
)
INSERT INTO skiplane.error_delta
  (lane, stage, fingerprint, retrying, seen_time, error_type, error_text, tasks)
SELECT $0, m.stage, m.error_fingerprint, count(*), now(), 'Timeout', 'no answer', array[min(m.id)]
FROM made m WHERE m.error_fingerprint IS NOT NULL GROUP BY m.stage, m.error_fingerprint)";

constexpr char kFailed[] = R"(
WITH made AS (
  INSERT INTO skiplane.task_failed
    (lane, id, expire_time, end_time, schedule_time, create_time, lease_number, attempt,
     max_attempts, stage, priority, key, headers, error_type, error_fingerprint, error_text,
     payload)
  SELECT $0, $1 + n, now() + interval '30 days', now() - n * interval '1 ms',
         now() - interval '1 day', now() - interval '2 days', 1, 10, 10, n % $6, $5,
         'failed-' || $1 + n, jsonb_build_object('tenant', 't' || n % $4), 'Refused',
         'print-' || n % $3, 'the address does not exist', decode(repeat(md5(n::text), 12), 'hex')
  FROM generate_series(0, $2 - 1) n
  RETURNING id, stage, error_fingerprint
), counted AS (
  INSERT INTO skiplane.counter_delta (lane, stage, due, failed)
  SELECT $0, m.stage, 0, count(*) FROM made m GROUP BY m.stage
)
INSERT INTO skiplane.error_delta (lane, stage, fingerprint, failed, seen_time, error_type,
                                  error_text, tasks)
SELECT $0, m.stage, m.error_fingerprint, count(*), now(), 'Refused', 'the address does not exist',
       array[min(m.id)]
FROM made m GROUP BY m.stage, m.error_fingerprint)";

// One attempt of twenty failed and was repeated. All expire within one day, that after tomorrow.
constexpr char kHistory[] = R"(
INSERT INTO skiplane.history
  (lane, task_id, expire_time, end_time, lease_time, schedule_time, create_time, attempt,
   max_attempts, stage, priority, outcome, ends_task, key, error_type, error_fingerprint,
   error_text)
SELECT $0, $1 + n - (n % 20 = 10)::int,
       date_trunc('day', now()) + interval '3 days' + n % 80000 * interval '1 s',
       now() - interval '4 days' + n * interval '1 ms', now() - interval '4 days',
       now() - interval '4 days', now() - interval '4 days', 1, 10, n % $6, $5,
       CASE WHEN n % 20 = 9 THEN 2 ELSE 1 END, n % 20 <> 9,
       CASE WHEN n % 4 = 0 THEN 'done-' || $1 + n END, CASE WHEN n % 20 = 9 THEN 'Timeout' END,
       CASE WHEN n % 20 = 9 THEN 'print-' || n / 20 % $3 END,
       CASE WHEN n % 20 = 9 THEN 'no answer'::bytea END
FROM generate_series(0, $2 - 1) n)";

constexpr char kStatistics[] = R"(
INSERT INTO skiplane.hour_statistics
SELECT $0, date_trunc('hour', now()) - h * interval '1 hour', s, o, 1000, 1000000, 50000, 200000
FROM generate_series(0, 30 * 24) h, generate_series(0, $6 - 1) s, generate_series(1, 3) o)";

int64_t Fill(const BrokerRun& broker, const char* what, const char* statement, int64_t lane,
             int64_t rows) {
  const int64_t first = TakeIds(broker, rows);
  for (int64_t made = 0; made < rows; made += kRowsPerCommit) {
    const int64_t count = std::min(kRowsPerCommit, rows - made);
    broker.Sql(absl::Substitute(statement, lane, first + made, count, kAdminGroups, kAdminTenants,
                                kAdminPriority, kAdminStages,
                                SqlPayload(absl::StrCat(first + made, " + n")), kPayloadBodies));
    std::cerr << absl::StrFormat("admin: %d of %d %s are there\n", made + count, rows, what);
  }
  return first;
}

// The day that the rows of kHistory expire on is nearer than those that brokers make tables for.
std::string MakePartition(const BrokerRun& broker) {
  const std::string day = "(now() AT TIME ZONE 'UTC')::date + 3";
  const std::string name =
      broker.Sql(absl::StrCat("SELECT 'history_' || to_char(", day, ", 'YYYYMMDD')"));
  broker.Sql(absl::StrCat(
      "DO $$ BEGIN EXECUTE format('CREATE TABLE skiplane.", name,
      " PARTITION OF skiplane.history FOR VALUES FROM (%L) TO (%L)', (", day,
      ")::timestamp AT TIME ZONE 'UTC', (", day, " + 1)::timestamp AT TIME ZONE 'UTC'); END $$"));
  return name;
}

}  // namespace

std::string AdminQueueName(int number) { return absl::StrCat("beside-", number); }

AdminRows FillForAdmin(const BrokerRun& broker, const std::string& queue, int64_t waiting,
                       int64_t failed, int64_t history) {
  MakePayloadBodies(broker);
  AdminRows rows;
  rows.lane = LaneOf(broker, queue);
  rows.waiting = waiting;
  rows.failed = failed;
  rows.history = history;
  rows.partition = MakePartition(broker);
  rows.first_history = Fill(broker, "rows of history", kHistory, rows.lane, history);
  rows.first_failed = Fill(broker, "dead letters", kFailed, rows.lane, failed);
  rows.first_waiting = Fill(broker, "waiting tasks", kWaiting, rows.lane, waiting);
  Fill(broker, "months of statistics", kStatistics, rows.lane, 1);
  // VACUUM cannot run beside other statements.
  for (const std::string& table :
       {rows.partition, std::string("task"), std::string("task_key"), std::string("task_failed")}) {
    broker.Sql(absl::StrCat("VACUUM skiplane.", table));
  }
  broker.Sql("CHECKPOINT");
  return rows;
}

}  // namespace skiplane::bench
