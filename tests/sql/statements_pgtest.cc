#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/sql/queries.h"
#include "tests/sql/plan.h"
#include "tests/support/database.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

// Every table that grows with tasks.
const std::set<std::string> kTaskFamily = {
    "task",    "task_key", "lease_ledger", "settled",      "request",
    "counter", "history",  "task_failed",  "counter_delta", "worker_session",
    "answered_request", "enqueue_request", "task_pack", "pack_history"};

// Which of them are read as a whole on purpose, by any statement.
const std::map<std::string, const char*> kReadAsAWhole = {
    {"counter_delta", "upkeep keeps it small, and appending to it must cost no index"}};

// Which statements do so, as upkeep and the sampler, once in a while.
const std::map<std::string, std::set<std::string>> kReadsAsAWhole = {
    {"attempt_oldest", {"lease_ledger"}},
    {"clock_sessions", {"worker_session"}},
    {"counter_read", {"counter"}},
    {"default_expire", {"history", "pack_history", "task_failed"}},
    {"ledger_due", {"lease_ledger"}},
    {"ledger_entries", {"lease_ledger"}},
    {"ledger_fold", {"lease_ledger"}},
    {"ledger_lanes", {"lease_ledger"}},
    {"ledger_oldest", {"lease_ledger"}},
    {"session_count", {"worker_session"}},
    {"session_expire", {"worker_session"}},
    {"session_gone", {"worker_session"}},
    {"session_grace", {"worker_session"}},
    {"session_leases", {"lease_ledger"}},
    {"session_unused", {"lease_ledger"}},
    {"space_find", {"counter"}},
    {"token_key_expire", {"lease_ledger"}},
    {"worker_busy", {"lease_ledger"}},
    {"worker_command", {"worker_session"}},
    {"worker_list", {"lease_ledger", "worker_session"}},
    {"worker_tasks", {"lease_ledger", "worker_session"}}};

// A sum over all tasks.
const std::set<std::string> kMayReadALane = {"queue_bytes", "deletion_holds"};

// Searched by ranges of ids, which are unique in the installation; GiST has no bigint of its own.
// The second has the lane in its hash, a request id has few lanes, and a worker's session is for
// all.
const std::set<std::string> kIndexesWithoutLane = {
    "settled_ranges", "answered_request_key", "lease_ledger_request", "worker_session_pkey",
    "worker_session_alive", "worker_session_gone", "worker_session_ended", "worker_session_single",
    "task_planned"};

// "history" for history_20260101 and history_default.
std::string TableOf(const std::string& relation) {
  for (const char* const partitioned : {"history", "task_failed", "pack_history"}) {
    if (absl::StartsWith(relation, absl::StrCat(partitioned, "_"))) return partitioned;
  }
  return relation;
}

bool MayReadAsAWhole(const sql::Query& query, const std::string& table) {
  if (!kTaskFamily.contains(table) || kReadAsAWhole.contains(table)) return true;
  const auto allowed = kReadsAsAWhole.find(query.name);
  return allowed != kReadsAsAWhole.end() && allowed->second.contains(table);
}

// Lanes 1 to 8 with a backlog, held tasks, finished ones and their records; analysed.
constexpr char kFill[] = R"sql(
INSERT INTO skiplane.queue (name, settings) SELECT 'q' || i, '{}' FROM generate_series(1, 8) i;
INSERT INTO skiplane.queue_lane (queue_id, ordinal) SELECT id, 0 FROM skiplane.queue;
INSERT INTO skiplane.task (lane, id, schedule_time, create_time, max_attempts, priority, state,
                           session, payload)
  SELECT i % 8 + 1, i, now() + (i % 100 - 50) * interval '1 minute', now(), 10, i % 5,
         CASE WHEN i % 10 = 0 THEN 2 ELSE 1 END, gen_random_uuid(), 'x'
  FROM generate_series(1, 40000) i;
INSERT INTO skiplane.task_pack (lane, id, schedule_time, create_time, max_attempts, bytes,
                                task_count, priority, payloads)
  SELECT i % 8 + 1, 1000000 + i * 64, now() + (i % 100 - 50) * interval '1 minute', now(), 10, 1,
         2, i % 5, '{a,b}'
  FROM generate_series(1, 4000) i;
INSERT INTO skiplane.pack_history (lane, id, expire_time, end_time, schedule_time, create_time,
                                   max_attempts, priority, sessions, lease_numbers, masks)
  SELECT i % 8 + 1, 1000000 + i * 64, now() + interval '7 days', now(), now(), now(), 10, 0,
         array[gen_random_uuid()], '{1}', '{3}'
  FROM generate_series(1, 4000) i;
INSERT INTO skiplane.task_key (lane, key, task_id)
  SELECT i % 8 + 1, 'k' || i, i FROM generate_series(1, 20000) i;
INSERT INTO skiplane.history (lane, task_id, expire_time, end_time, lease_time, schedule_time,
                              create_time, attempt, max_attempts, stage, priority, outcome,
                              ends_task)
  SELECT i % 8 + 1, i, now() + interval '7 days', now(), now(), now(), now(), 1, 10, 0, 0, 1, true
  FROM generate_series(1, 20000) i;
INSERT INTO skiplane.task_failed (lane, id, expire_time, end_time, schedule_time, create_time,
                                  lease_number, attempt, max_attempts, stage, priority, payload)
  SELECT i % 8 + 1, i, now() + interval '30 days', now(), now(), now(), i, 1, 10, 0, 0, 'x'
  FROM generate_series(1, 5000) i;
INSERT INTO skiplane.worker_session (id, worker_id, lease_duration, expire_time)
  SELECT gen_random_uuid(), 'w' || i, '1 minute', now() FROM generate_series(1, 500) i;
INSERT INTO skiplane.lease_ledger (lane, id, request_id, sessions, tasks, lease_numbers, check_time)
  SELECT i % 8 + 1, gen_random_uuid(), CASE WHEN i % 2 = 0 THEN 'r' || i END,
         array[gen_random_uuid()], array[i], array[i], now() FROM generate_series(1, 3000) i;
INSERT INTO skiplane.settled (lane, settle_time, outcome, transition, try_id, lease_numbers, tasks,
                              numbers, ids)
  SELECT i % 8 + 1, now(), 1, 1, 0, array[i], array[i], int8range(i, i, '[]'),
         int8range(i, i, '[]')
  FROM generate_series(1, 20000) i;
INSERT INTO skiplane.enqueue_request SELECT i % 8 + 1, 'r' || i, '', i, now()
  FROM generate_series(1, 10000) i;
INSERT INTO skiplane.answered_request
  SELECT i, i, i, now(), md5(i::text)::uuid FROM generate_series(1, 10000) i;
INSERT INTO skiplane.counter SELECT l, 0, i, 1, 1, 1, 1, 1, 0
  FROM generate_series(1, 8) l, generate_series(1, 200) i;
INSERT INTO skiplane.counter_delta (lane, stage, due, waiting)
  SELECT i % 8 + 1, 0, i, 1 FROM generate_series(1, 1000) i;
ANALYZE;
)sql";

// The columns of an index that are to be named. Who does not name the first reads all of the index;
// who names nothing but the lane of tasks or keys reads all of a lane.
std::multimap<std::string, std::string> NeededColumns(pg::Session& session) {
  const pg::Rows rows = Required(session.RunText(
      "SELECT c.relname, a.attname FROM pg_index i "
      "JOIN pg_class c ON c.oid = i.indexrelid AND c.relnamespace = 'skiplane'::regnamespace "
      "JOIN pg_attribute a ON a.attrelid = i.indrelid AND (a.attnum = i.indkey[0] OR "
      "a.attnum = i.indkey[1] AND c.relname ~ '^task_(key_|pack_|failed_.*)?pkey$')"));
  std::multimap<std::string, std::string> columns;
  for (int i = 0; i < rows.size(); ++i) {
    columns.emplace(rows.Text(i, 0), rows.Text(i, 1));
  }
  return columns;
}

void ExpectSearched(const PlanNode& node, const std::string& query,
                    const std::multimap<std::string, std::string>& needed_columns) {
  const auto [first, last] = needed_columns.equal_range(node.index);
  ASSERT_NE(first, last) << node.index;
  for (auto needed = first; needed != last; ++needed) {
    if (needed->second != "lane" && kMayReadALane.contains(query)) continue;
    EXPECT_THAT(node.condition, ::testing::ContainsRegex(absl::StrCat("\\b", needed->second, " ")))
        << query << " reads all of " << node.index
        << ": docs/adr/2026-11-27-plans-of-empty-tables.md says how to prevent that";
  }
  if (kIndexesWithoutLane.contains(node.index)) return;
  EXPECT_THAT(node.condition, ::testing::HasSubstr("lane = "))
      << query << " reads all of " << node.index;
}

void ExpectGoodPlans(const Database& database) {
  const auto session = Required(pg::Session::Open({.uri = database.uri()}, nullptr));
  const std::multimap<std::string, std::string> needed_columns = NeededColumns(*session);
  for (const sql::Query* query : sql::kAll) {
    for (const PlanNode& node : PlanOf(*session, *query)) {
      EXPECT_THAT(node.type, ::testing::Not(::testing::AnyOf("Hash Join", "Merge Join")))
          << query->name;
      if (node.relation.empty() || MayReadAsAWhole(*query, TableOf(node.relation))) continue;
      EXPECT_NE(node.type, "Seq Scan") << query->name << " reads " << node.relation;
      if (!node.index.empty()) ExpectSearched(node, std::string(query->name), needed_columns);
    }
  }
}

TEST(StatementsTest, HaveGoodPlansOnAFilledDatabase) {
  const Database database = Database::Migrated();
  database.Run(kFill);
  ExpectGoodPlans(database);
}

TEST(StatementsTest, HaveGoodPlansOnADatabaseThatWasNeverAnalysed) {
  ExpectGoodPlans(Database::Migrated());
}

TEST(StatementsTest, HaveGoodPlansOnADatabaseThatWasVacuumedWhileItWasEmpty) {
  const Database database = Database::Migrated();
  database.Run("VACUUM ANALYZE");
  ExpectGoodPlans(database);
}

// A queue was drained, vacuum counted so many rows in many pages, and it filled again.
void Count(const Database& database, int rows) {
  database.Run(absl::StrCat(
      "UPDATE pg_class SET reltuples = ", rows,
      " WHERE relnamespace = 'skiplane'::regnamespace AND relkind = 'r' AND relpages > 9"));
}

TEST(StatementsTest, HaveGoodPlansOnADatabaseThatWasVacuumedWhileItWasNearlyEmpty) {
  const Database database = Database::Migrated();
  database.Run(kFill);
  for (const int rows : {0, 1, 5}) {
    Count(database, rows);
    ExpectGoodPlans(database);
  }
}

TEST(StatementsTest, HaveGoodPlansOnABacklogThatWasNeverAnalysed) {
  const Database database = Database::Migrated();
  std::string fill = kFill;
  database.Run(fill.erase(fill.find("ANALYZE")));
  ExpectGoodPlans(database);
}

// One known key that waits, one of a finished task, and one that is new.
constexpr char kRenewal[] =
    "'{1,1,1}', '{900001,900002,900003}', '{null,null,null}', '{0,0,0}', '{10,10,10}', '{0,0,0}', "
    "'{null,null,null}', '{null,null,null}', '{a,b,c}', '{k8,k16,new}', '{900001,900001,900001}', "
    "'{4,4,4}', '{null,null,null}', '{0,0,0}', '{null,null,null}', '{null,null,null}', "
    "'{null,null,null}', '{1,1,1}', '{1}', '{renewal}', '{hash}', '{900001}'";

// The same keys as schedules that are declared.
constexpr char kDeclaration[] =
    "'{1,1,1}', '{900001,900002,900003}', '{null,null,null}', '{0,0,0}', '{10,10,10}', '{0,0,0}', "
    "'{null,null,null}', '{null,null,null}', '{a,b,c}', '{k8,k16,new}', '{0,0,0}', '{6,6,6}', "
    "'{null,null,null}', '{0,0,0}', '{60000000,60000000,60000000}', '{null,null,null}', "
    "'{null,null,null}', '{1,1,1}', '{}', '{}', '{}', '{}'";

// How many pages task_enqueue_once reads when its plans, and those of what it calls, were made for
// tables that were empty.
int64_t BuffersOnceGrown(const Database& database, const std::string& arguments) {
  const auto session = Required(pg::Session::Open({.uri = database.uri()}, nullptr));
  BuffersOf(*session, sql::kTaskEnqueueOnce, arguments);
  std::string fill = kFill;
  database.Run(fill.erase(fill.find("ANALYZE")));
  database.Run(
      "UPDATE skiplane.task_key SET end_time = now() WHERE key = 'k16'; "
      "DELETE FROM skiplane.task WHERE id = 16");
  // Tests beside this one may make the session forget the catalogue: it read 2,700 pages of that.
  return std::min(BuffersOf(*session, sql::kTaskEnqueueOnce, arguments),
                  BuffersOf(*session, sql::kTaskEnqueueOnce, arguments));
}

TEST(StatementsTest, DeclaringSchedulesReadsFewRowsOfTablesThatHaveGrownSinceTheyWerePlanned) {
  EXPECT_LT(BuffersOnceGrown(Database::Migrated(), kDeclaration), 400);
}

TEST(StatementsTest, RenewingKeysReadsFewRowsOfTablesThatHaveGrownSinceTheyWerePlanned) {
  EXPECT_LT(BuffersOnceGrown(Database::Migrated(), kRenewal), 400);
}

TEST(StatementsTest, DeclaringSchedulesReadsFewRowsOfTablesThatWereVacuumedWhileTheyWereEmpty) {
  const Database database = Database::Migrated();
  database.Run("VACUUM ANALYZE");
  EXPECT_LT(BuffersOnceGrown(database, kDeclaration), 400);
}

TEST(StatementsTest, RenewingKeysReadsFewRowsOfTablesThatWereVacuumedWhileTheyWereEmpty) {
  const Database database = Database::Migrated();
  database.Run("VACUUM ANALYZE");
  EXPECT_LT(BuffersOnceGrown(database, kRenewal), 400);
}

TEST(StatementsTest, KeysAreFoundOneByOneInTablesThatWereVacuumedWhileTheyWereNearlyEmpty) {
  const Database database = Database::Migrated();
  database.Run(kFill);
  const auto session = Required(pg::Session::Open({.uri = database.uri()}, nullptr));
  for (const int rows : {0, 1, 5}) {
    Count(database, rows);
    for (const char* const arguments : {kDeclaration, kRenewal}) {
      BuffersOf(*session, sql::kTaskEnqueueOnce, arguments);  // reads the catalogue, to plan
      EXPECT_LT(BuffersOf(*session, sql::kTaskEnqueueOnce, arguments), 400) << rows;
    }
  }
}

// A worker that reported of a thousand tasks, which it holds.
constexpr char kReports[] = R"sql(
INSERT INTO skiplane.queue (name, settings) VALUES ('q', '{}');
INSERT INTO skiplane.queue_lane (queue_id, ordinal) SELECT id, 0 FROM skiplane.queue;
INSERT INTO skiplane.task (lane, id, schedule_time, create_time, max_attempts, priority, state,
                           attempt, lease_number, lease_time, session, payload)
  SELECT 1, i, now(), now(), 10, 0, 2, 1, i, now(), repeat('0', 32)::uuid, 'x'
  FROM generate_series(1, 1000) i;
INSERT INTO skiplane.worker_session (id, worker_id, lease_duration, expire_time, progress)
  SELECT repeat('0', 32)::uuid, 'w', '1 minute', now(),
         jsonb_object_agg(i, jsonb_build_object('lane', 1, 'lease', i, 'fraction', 0.5))
  FROM generate_series(1, 1000) i;
)sql";

// Two of its tasks are retried.
constexpr char kRetries[] =
    "1, '{7,8}', '{7,8}', array[repeat('0', 32)::uuid, repeat('0', 32)::uuid], '{2,2}', '{1,1}', "
    "'{E,E}', '{f,f}', '{x,x}', '{null,null}', '{null,null}', '{null,null}', '{null,null}', "
    "'{null,null}', '{null,null}', 1, 1, 7, 30, false, false, '{}', 1, "
    "1000";

TEST(StatementsTest, SettlingTwoTasksReadsNoReportsOfOtherTasks) {
  const Database database = Database::Migrated();
  database.Run(kReports);
  const auto session = Required(pg::Session::Open({.uri = database.uri()}, nullptr));
  const int64_t rows = MostRowsOf(*session, sql::kTaskSettle, kRetries);
  EXPECT_GE(rows, 2);
  EXPECT_LT(rows, 20);
}

TEST(StatementsTest, BeginWithAComment) {
  for (const sql::Query* query : sql::kAll) {
    EXPECT_TRUE(absl::StartsWith(query->text, "-- ")) << query->name;
  }
}

}  // namespace
}  // namespace skiplane::testing
