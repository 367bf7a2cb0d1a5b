#include "tests/bench/preload.h"

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/substitute.h"
#include "tests/bench/load/sql_tasks.h"
#include "tests/support/require.h"

namespace skiplane::bench {
namespace {

constexpr int64_t kTasksPerCall = 1000;
constexpr int64_t kRowsPerCommit = 250'000;
constexpr int64_t kTaskIdBlock = 4096;

// $0 lane, $1 first id, $2 rows, $3 how far the run time is from now, $4 the
// payload, $5 where it is from.
constexpr char kTasks[] = R"(
WITH made AS (
  INSERT INTO skiplane.task (lane, id, schedule_time, create_time, due, max_attempts, payload)
  SELECT $0, $1 + n, now() + interval '$3' + n * interval '1 microsecond', now(),
         CASE WHEN interval '$3' > interval '0'
              THEN ceil(date_part('epoch', now() + interval '$3') / 10)::int ELSE 0 END,
         10, $4
  FROM generate_series(0, $2 - 1) n $5
  RETURNING due
)
INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
SELECT $0, 0, due, count(*) FROM made GROUP BY due)";

constexpr char kHistory[] = R"(
INSERT INTO skiplane.history
  (lane, task_id, expire_time, end_time, lease_time, schedule_time, create_time, attempt,
   max_attempts, stage, priority, outcome, ends_task)
SELECT $0, $1 + n, now() + interval '7 days', now(), now(), now(), now(), 1, 10, 0, 0, 1, true
FROM generate_series(0, $2 - 1) n -- $3 $4 $5)";

constexpr char kPeriodic[] = R"(
WITH made AS (
  INSERT INTO skiplane.task
    (lane, id, schedule_time, create_time, max_attempts, payload, period, planned_time)
  SELECT $0, $1 + n, x.at, now(), 10, $4, 10000000, x.at
  FROM generate_series(0, $2 - 1) n $5
  CROSS JOIN LATERAL (SELECT now() + interval '$3' + n * interval '1 microsecond' AS at) x
  RETURNING due
)
INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
SELECT $0, 0, due, count(*) FROM made GROUP BY due)";

const char* StatementOf(Preload what) {
  switch (what) {
    case Preload::kHistory:
      return kHistory;
    case Preload::kPeriodic:
      return kPeriodic;
    default:
      return kTasks;
  }
}

}  // namespace

int64_t LaneOf(const BrokerRun& broker, const std::string& queue) {
  return broker.SqlNumber(
      absl::StrCat("SELECT lane FROM skiplane.queue_lane l JOIN skiplane.queue q ON q.id = ",
                   "l.queue_id WHERE q.name = '", queue, "'"));
}

int64_t TakeIds(const BrokerRun& broker, int64_t rows) {
  const int64_t first = broker.SqlNumber("SELECT nextval('skiplane.task_id')") + kTaskIdBlock;
  const int64_t blocks = rows / kTaskIdBlock + 2;
  broker.Sql(
      absl::StrCat("SELECT setval('skiplane.task_id', ", first + blocks * kTaskIdBlock, ")"));
  return first;
}

void EnqueueAll(Stage& stage, int64_t tasks) {
  v1::EnqueueRequest request;
  request.set_queue(stage.queue());
  for (int64_t i = 0; i < std::min(tasks, kTasksPerCall); ++i) {
    request.add_tasks();
  }
  for (int64_t made = 0; made < tasks; made += kTasksPerCall) {
    stage.SetId(request);
    for (v1::NewTask& task : *request.mutable_tasks()) task.set_payload(NewPayload());
    v1::EnqueueResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stage.stub().Enqueue(&context, request, &response);
    testing::Require(status.ok(), absl::StrCat("Enqueue: ", status.error_message()));
  }
}

void PreloadRows(BrokerRun& broker, const std::string& queue, Preload what, int64_t rows) {
  const int64_t lane = LaneOf(broker, queue);
  const int64_t first = TakeIds(broker, rows);
  MakePayloadBodies(broker);
  const char* const statement = StatementOf(what);
  const char* const ahead = what == Preload::kDelayed ? "10 days" : "-1 hour";
  for (int64_t made = 0; made < rows; made += kRowsPerCommit) {
    broker.Sql(absl::Substitute(statement, lane, first + made,
                                std::min(kRowsPerCommit, rows - made), ahead,
                                SqlPayload(absl::StrCat(first + made, " + n")), kPayloadBodies));
    std::cerr << absl::StrFormat("%s: %d of %d rows are there\n", queue,
                                 std::min(rows, made + kRowsPerCommit), rows);
  }
  // VACUUM cannot run beside other statements.
  broker.Sql(what == Preload::kHistory ? "VACUUM skiplane.history" : "VACUUM skiplane.task");
  broker.Sql("CHECKPOINT");
}

}  // namespace skiplane::bench
