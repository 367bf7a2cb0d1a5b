// What operators look at costs what they see, however much there is. The measure is the number of
// buffers that a statement touches, which is the same on every machine. That each bound would be
// passed without the index is shown too: else these tests would measure nothing.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/sql/queries.h"
#include "tests/sql/plan.h"
#include "tests/support/database.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

// Lane 1 holds what is asked for; each second row belongs to lane 2, and so does all that is put
// between them.
constexpr char kFill[] = R"sql(
INSERT INTO skiplane.queue (name, settings) VALUES ('q1', '{}'), ('q2', '{}');
INSERT INTO skiplane.queue_lane (queue_id, ordinal) SELECT id, 0 FROM skiplane.queue ORDER BY id;
INSERT INTO skiplane.task (lane, id, schedule_time, create_time, planned_time, period,
                           max_attempts, priority, key, headers, error_fingerprint, payload)
  SELECT i % 2 + 1, i, now() - interval '1 hour', now(),
         CASE WHEN i % 10 < 2 THEN now() + i * interval '1 second' END,
         CASE WHEN i % 10 < 2 THEN 3600000000 END, 10, 5, 'k' || i,
         jsonb_build_object('tenant', 't' || i % 1000), 'p' || i % 500,
         decode(repeat('55', 200), 'hex')
  FROM generate_series(1, 200000) i;
INSERT INTO skiplane.history (lane, task_id, expire_time, end_time, lease_time, schedule_time,
                              create_time, attempt, max_attempts, stage, priority, outcome,
                              ends_task, key)
  SELECT i % 2 + 1, 200000 + i, now() + interval '7 days', now(), now(), now(), now(), 1, 10, 0, 0,
         1, true, 'k' || i
  FROM generate_series(1, 200000) i;
INSERT INTO skiplane.task_failed (lane, id, expire_time, end_time, schedule_time, create_time,
                                  lease_number, attempt, max_attempts, stage, priority,
                                  error_fingerprint, payload)
  SELECT i % 2 + 1, 400000 + i, now() + interval '30 days', now(), now(), now(), i, 1, 10, 0, 0,
         'p' || i % 500, decode(repeat('55', 200), 'hex')
  FROM generate_series(1, 100000) i;
INSERT INTO skiplane.error_group
  SELECT l, 0, 'p' || i, 1, 1, now(), now(), 'T', 'text', array[i]
  FROM generate_series(1, 2) l, generate_series(1, CASE WHEN l = 1 THEN 500 ELSE 100000 END) i;
INSERT INTO skiplane.hour_statistics
  SELECT l, date_trunc('hour', now()) - h * interval '1 hour', 0, o, 1, 1, 1, 1
  FROM generate_series(1, 2) l, generate_series(0, 9000) h, generate_series(1, 3) o;
INSERT INTO skiplane.bulk_operation (id, queue_id, request, dry_run, state, lanes, actor)
  SELECT gen_random_uuid(), 1, '{}', true, 2, '{}', 'a' FROM generate_series(1, 20000);
VACUUM ANALYZE skiplane.bulk_operation;
VACUUM ANALYZE skiplane.task;
VACUUM ANALYZE skiplane.history;
VACUUM ANALYZE skiplane.task_failed;
VACUUM ANALYZE skiplane.error_group;
VACUUM ANALYZE skiplane.hour_statistics;
)sql";

// A page that finds nothing looks at as many rows as one that finds something: the dearest one.
constexpr char kNoMatch[] =
    "array[NULL]::int2[], 7, array['none', NULL, NULL]::text[], array[NULL, NULL]::int8[], "
    "array[NULL, NULL]::int2[]";
constexpr char kByHeader[] =
    "array[NULL]::int2[], 7, array[NULL, '{\"tenant\": \"t7\"}', NULL]::text[], "
    "array[NULL, NULL]::int8[], array[NULL, NULL]::int2[]";
constexpr char kByGroup[] =
    "array[NULL]::int2[], 7, array[NULL, NULL, 'p7']::text[], array[NULL, NULL]::int8[], "
    "array[NULL, NULL]::int2[]";

class OperatorsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    database_ = new Database(Database::Migrated());
    // VACUUM cannot run beside other statements.
    const std::string text = kFill;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find(";\n", begin) + 2;
      database_->Run(text.substr(begin, end - begin));
      begin = end;
    }
  }
  static void TearDownTestSuite() { delete database_; }

  OperatorsTest() : session_(Required(pg::Session::Open({.uri = database_->uri()}, nullptr))) {}

  // The statement stays below the bound, and only because of an index.
  void ExpectBuffers(const sql::Query& query, const std::string& arguments, int64_t bound) {
    EXPECT_LE(BuffersOf(*session_, query, arguments), bound) << query.name;
    Required(session_->RunText(
        "SET enable_seqscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off"));
    EXPECT_GT(BuffersOf(*session_, query, arguments), bound) << query.name << " without an index";
    Required(session_->RunText(
        "SET enable_seqscan = off; SET enable_indexscan = on; SET enable_indexonlyscan = on"));
  }

  // Steps of 2,000 rows from the start, the middle, and shortly before the end of lane 1.
  void ExpectPages(const sql::Query& query, int64_t first, int64_t rows, const char* filter,
                   int64_t bound) {
    for (const int64_t after : {int64_t{0}, first + rows / 2, first + rows - 4000}) {
      const std::string slice = absl::StrCat("1, ", after, ", 2000, 100, ", filter);
      ExpectBuffers(query, slice + ", '{}', false", bound);
    }
    for (const int64_t before : {first + 4000, first + rows / 2, int64_t{1} << 60}) {
      const std::string slice = absl::StrCat("1, ", before, ", 2000, 100, ", filter);
      ExpectBuffers(query, slice + ", '{}', true", bound);
    }
  }

  static Database* database_;
  std::unique_ptr<pg::Session> session_;
};

Database* OperatorsTest::database_ = nullptr;

TEST_F(OperatorsTest, APageOfLivingTasksTouchesOnlyWhatItLooksAt) {
  for (const char* filter : {kNoMatch, kByHeader, kByGroup}) {
    ExpectPages(sql::kTaskFilter, 0, 200'000, filter, 700);
  }
}

TEST_F(OperatorsTest, APageOfFinishedTasksTouchesOnlyWhatItLooksAt) {
  ExpectPages(sql::kFinishedFilter, 200'000, 200'000, kNoMatch, 200);
}

TEST_F(OperatorsTest, APageOfFailedTasksTouchesOnlyWhatItLooksAt) {
  ExpectPages(sql::kFailedFilter, 400'000, 100'000, kByGroup, 400);
}

TEST_F(OperatorsTest, TheTasksOfAPageAreFoundOneByOne) {
  ExpectBuffers(sql::kTaskGet,
                "1, '{200, 40000, 100000, 160000, 199000}', false, 1000000, true", 400);
}

TEST_F(OperatorsTest, AttemptsOfATaskAreFoundByIt) {
  ExpectBuffers(sql::kAttemptList, "1, 300000, 'infinity', 10, 1000000", 50);
}

TEST_F(OperatorsTest, ErrorGroupsAreThoseOfTheQueue) {
  for (const char* const hide_muted : {"false", "true"}) {
    ExpectBuffers(sql::kErrorList,
                  absl::StrCat("'{1}', array[NULL]::int2[], 9223372036854775807, -1, '', 101, "
                               "3145728, '{1}', 0, ", hide_muted),
                  800);
  }
}

// 2,000 queues by 1,500 groups were 3 million comparisons, 190 ms, and not a buffer more.
TEST_F(OperatorsTest, ErrorGroupsOfAllQueuesAreFoundLaneByLane) {
  int scans = 0;
  for (const PlanNode& node : PlanOf(*session_, sql::kErrorList)) {
    if (node.relation != "error_group" && node.relation != "error_delta") continue;
    EXPECT_THAT(node.condition, ::testing::HasSubstr("(lane = l"));
    ++scans;
  }
  EXPECT_EQ(scans, 3);  // the last one of the page only
}

TEST_F(OperatorsTest, APageOfSchedulesTouchesOnlyWhatItLooksAt) {
  ExpectBuffers(sql::kScheduleList, "'-infinity', 0, 0, 101, '{}', 101", 130);
  ExpectBuffers(sql::kScheduleList, "now(), 1, 1, 2000, '{1}', 101", 2100);
}

TEST_F(OperatorsTest, StatisticsOfADayAreThoseOfItsHours) {
  ExpectBuffers(sql::kStatisticsRead,
                "'{1}', array[NULL]::int2[], array[NULL]::int2[], now() - interval '1 day', "
                "now(), '-infinity', 0, 0, 10001",
                30);
}

TEST_F(OperatorsTest, ABulkOperationBeginsAlikeHoweverManyHaveEnded) {
  ExpectBuffers(sql::kBulkCreate,
                "gen_random_uuid(), 1, '{}', true, '{1}', 1::int2, 'a', true, true, "
                "array[NULL]::int2[], 1::int2, 0, 100",
                100);
}

TEST_F(OperatorsTest, ExplainCountsNoMoreThanTenThousandTasks) {
  ExpectBuffers(sql::kTaskAhead, "1, 0::int2, 5::int2, now(), 1000000", 2500);
}

TEST_F(OperatorsTest, ExplainOfTheFirstTaskLooksAtNoneBehindIt) {
  ExpectBuffers(sql::kTaskAhead, "1, 0::int2, 5::int2, now() - interval '1 day', 1", 20);
}

}  // namespace
}  // namespace skiplane::testing
