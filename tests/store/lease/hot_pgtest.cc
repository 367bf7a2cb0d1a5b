// A lease writes no index: it is a HOT update, always.
#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using testing::IsOk;

class HotTest : public testing::StoreHarness {
 protected:
  // As rows are in real use: every column is set.
  static model::NewTask FullTask() {
    model::NewTask task;
    task.payload = std::string(200, 'x');
    task.content_type = "application/json";
    task.headers = {{"trace", "00-4bf92f3577b34da6a3ce929d0e0e4736"}, {"tenant", "blue"}};
    return task;
  }

  int64_t Updates(const char* column) const {
    return Number(absl::StrCat("SELECT ", column, " FROM pg_stat_user_tables "
                               "WHERE relid = 'skiplane.task'::regclass"));
  }
};

TEST_F(HotTest, EveryLeaseIsAHotUpdate) {
  constexpr int kTasks = 5000;
  const model::NewTask task = FullTask();
  for (int i = 0; i < kTasks / 1000; ++i) Put(1000, task);
  Sql("UPDATE skiplane.task SET key = 'key-' || id, error_type = 'Timeout', "
      "error_text = 'the mail server did not answer', error_fingerprint = 'smtp'");
  Sql("VACUUM FULL skiplane.task");
  const int64_t updates = Updates("n_tup_upd");
  const int64_t hot_updates = Updates("n_tup_hot_upd");
  for (int leased = 0; leased < kTasks;) {
    const std::vector<LeasedRow> rows = Take(100);
    ASSERT_EQ(rows.size(), 100u);
    ASSERT_THAT(AckByLocation(*session_, Batch(testing::TokensOf(rows))),
                testing::IsOkAndHolds(::testing::SizeIs(100)));
    leased += 100;
  }
  ASSERT_THAT(session_->RunText("SELECT pg_stat_force_next_flush()"), IsOk());
  ASSERT_THAT(session_->RunText("SELECT 1"), IsOk());
  EXPECT_EQ(Updates("n_tup_upd") - updates, kTasks);
  EXPECT_EQ(Updates("n_tup_hot_upd") - hot_updates, kTasks);
}

TEST_F(HotTest, NoIndexKnowsAColumnThatALeaseWrites) {
  PutOne(FullTask());
  constexpr char kRow[] = "SELECT to_jsonb(t) FROM skiplane.task t";
  const std::string before = Sql(kRow);
  TakeOne();
  const std::string written = Sql(absl::StrCat(
      "SELECT string_agg(a.key, ',') FROM jsonb_each('", before, "') b JOIN jsonb_each((", kRow,
      ")) a ON a.key = b.key AND a.value IS DISTINCT FROM b.value"));
  ASSERT_THAT(written, ::testing::HasSubstr("lease_number"));
  const std::string columns = absl::StrCat("'{", written, "}'::text[]");
  EXPECT_EQ(Sql(absl::StrCat(
                "SELECT string_agg(i.indexrelid::regclass || '.' || a.attname, ' ') "
                "FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid "
                "AND a.attnum = ANY (i.indkey) "
                "WHERE i.indrelid = 'skiplane.task'::regclass AND a.attname = ANY (", columns,
                ")")),
            "");
  EXPECT_EQ(Number("SELECT count(*) FROM pg_index WHERE indrelid = 'skiplane.task'::regclass "
                   "AND (pg_get_expr(indpred, indrelid) NOT IN "
                   "('(stage IS NOT NULL)', '(planned_time IS NOT NULL)') "
                   "OR indexprs IS NOT NULL)"),
            0)
      << "a new predicate or expression must be shown to be free of what a lease writes";
}

}  // namespace
}  // namespace skiplane::store
