#include "server/upkeep/retention.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using testing::Required;

class RetentionTest : public testing::UpkeepHarness {
 protected:
  void TearDown() override {}  // the rows below are of no task

  // Rows of that age in the test's lane.
  void AddSettled(const std::string& age, int rows) const {
    Sql(absl::StrCat("INSERT INTO skiplane.settled (lane, settle_time, outcome, transition, "
                     "try_id, "
                     "lease_numbers, tasks, numbers, ids) SELECT ",
                     lane_, ", now() - interval '", age, "', 1, 1, 0, '{1}', '{1}', '[1,1]', "
                     "'[1,1]' FROM generate_series(1, ", rows, ")"));
  }
  void AddRequests(const std::string& age, int rows) const {
    Sql(absl::StrCat("INSERT INTO skiplane.enqueue_request SELECT ", lane_, ", '", age,
                     "' || i, '', 1, now() - interval '", age, "' FROM generate_series(1, ", rows,
                     ") i"));
  }
  void AddAnswered(const std::string& age, int rows) const {
    Sql(absl::StrCat("INSERT INTO skiplane.answered_request SELECT i, 1, 1, now() - interval '",
                     age, "', gen_random_uuid() FROM generate_series(1, ", rows, ") i"));
  }
  int64_t Answered() const { return Number("SELECT count(*) FROM skiplane.answered_request"); }
  int64_t Settled() const { return Number("SELECT count(*) FROM skiplane.settled"); }
  int64_t Requests() const { return Number("SELECT count(*) FROM skiplane.enqueue_request"); }

  Retention retention_;
};

TEST_F(RetentionTest, OnlyOldRowsGo) {
  AddSettled("61 min", 3);
  AddSettled("59 min", 2);
  AddRequests("24 h 1 min", 4);
  AddRequests("23 h 59 min", 1);
  const RetentionResult result = Required(retention_.RunOnce(*session_));
  EXPECT_EQ(result.settled, 3);
  EXPECT_EQ(result.requests, 2 * 4) << "what brokers of 0.1.0 write is in two tables";
  EXPECT_EQ(Settled(), 2);
  EXPECT_EQ(Requests(), 1);
}

TEST_F(RetentionTest, AnsweredRequestIdsAreKeptForADay) {
  AddAnswered("24 h 1 min", 4);
  AddAnswered("23 h 59 min", 2);
  const RetentionResult result = Required(retention_.RunOnce(*session_));
  EXPECT_EQ(result.requests, 4);
  EXPECT_TRUE(result.is_complete);
  EXPECT_EQ(Answered(), 2);
}

// 64 pages at a time, and no row twice.
TEST_F(RetentionTest, APassGoesThroughSomePagesOfAnsweredRequestsAndTheNextGoesOn) {
  AddAnswered("25 h", 20000);
  int64_t removed = 0;
  int passes = 0;
  while (Answered() > 0) {
    const RetentionResult pass = Required(retention_.RunOnce(*session_));
    EXPECT_GT(pass.requests, 0);
    EXPECT_LT(pass.requests, 10000);
    removed += pass.requests;
    ++passes;
  }
  EXPECT_EQ(removed, 20000);
  EXPECT_GT(passes, 1);
  AddAnswered("25 h", 1);  // after the last page comes the first
  for (int more = 0; Answered() > 0; ++more) {
    ASSERT_LT(more, 20);
    Required(retention_.RunOnce(*session_));
  }
}

TEST_F(RetentionTest, RequestIdsOfOperatorsGoTheirDayLater) {
  const auto add = [this](const char* age, int rows) {
    Sql(absl::StrCat("INSERT INTO skiplane.admin_request SELECT convert_to('", age,
                     "' || i, 'UTF8'), '', '', now() - interval '", age,
                     "' FROM generate_series(1, ", rows, ") i"));
  };
  add("24 h 1 min", 3);
  add("23 h 59 min", 2);
  EXPECT_EQ(Required(retention_.RunOnce(*session_)).admin_requests, 3);
  add("24 h 1 min", 20001);
  int64_t removed = 0;
  int passes = 0;
  for (bool is_complete = false; !is_complete; ++passes) {
    const RetentionResult pass = Required(retention_.RunOnce(*session_));
    EXPECT_LE(pass.admin_requests, 20000) << "one pass is bounded";
    removed += pass.admin_requests;
    is_complete = pass.is_complete;
  }
  EXPECT_EQ(removed, 20001);
  EXPECT_GT(passes, 1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.admin_request"), 2);
}

TEST_F(RetentionTest, EveryLaneIsServed) {
  AddSettled("2 h", 1);
  lane_ = MakeLane("other");
  AddSettled("2 h", 1);
  bool is_complete = false;
  while (!is_complete) is_complete = Required(retention_.RunOnce(*session_)).is_complete;
  EXPECT_EQ(Settled(), 0);
}

TEST_F(RetentionTest, OnePassIsBoundedAndTheNextGoesOn) {
  AddSettled("2 h", 20001);
  EXPECT_FALSE(Required(retention_.RunOnce(*session_)).is_complete);
  EXPECT_GE(Settled(), 1);
  bool is_complete = false;
  while (!is_complete) is_complete = Required(retention_.RunOnce(*session_)).is_complete;
  EXPECT_EQ(Settled(), 0);
}

}  // namespace
}  // namespace skiplane::upkeep
