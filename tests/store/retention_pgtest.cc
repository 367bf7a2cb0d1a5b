#include "server/store/retention.h"

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using testing::IsOkAndHolds;
using testing::Required;

class RetentionTest : public testing::StoreHarness {
 protected:
  // `count` records of releases, which no counter knows.
  void MakeSettled(int count, const char* age) {
    Sql(absl::StrCat("INSERT INTO skiplane.settled (lane, settle_time, outcome, transition, "
                     "try_id, "
                     "lease_numbers, tasks, numbers, ids) SELECT ",
                     lane_, ", now() - interval '", age, "', 6, 0, 0, '{1}', '{1}', '[1,1]', "
                     "'[1,1]' FROM generate_series(1, ", count, ")"));
  }

  void MakeRequests(int count, const char* age) {
    Sql(absl::StrCat("INSERT INTO skiplane.enqueue_request SELECT ", lane_, ", '", age,
                     "' || i, '', 1, now() - interval '", age, "' FROM generate_series(1, ", count,
                     ") i"));
  }
};

TEST_F(RetentionTest, OldSettledRecordsGoInSteps) {
  MakeSettled(5, "2 hours");
  MakeSettled(3, "1 minute");
  EXPECT_THAT(ExpireSettled(*session_, lane_ + 1, absl::Hours(1), 100), IsOkAndHolds(0));
  EXPECT_THAT(ExpireSettled(*session_, lane_, absl::Hours(1), 4), IsOkAndHolds(4));
  EXPECT_THAT(ExpireSettled(*session_, lane_, absl::Hours(1), 4), IsOkAndHolds(1));
  EXPECT_THAT(ExpireSettled(*session_, lane_, absl::Hours(1), 4), IsOkAndHolds(0));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.settled"), 3);
}

TEST_F(RetentionTest, OldRequestsGoInSteps) {
  MakeRequests(5, "25 hours");
  MakeRequests(3, "23 hours");
  EXPECT_THAT(ExpireRequests(*session_, lane_ + 1, absl::Hours(24), 100), IsOkAndHolds(0));
  EXPECT_THAT(ExpireRequests(*session_, lane_, absl::Hours(24), 4), IsOkAndHolds(4));
  EXPECT_THAT(ExpireRequests(*session_, lane_, absl::Hours(24), 4), IsOkAndHolds(1));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.enqueue_request"), 3);
}

TEST_F(RetentionTest, OldAnsweredRequestsGoFromTheirPages) {
  Sql("INSERT INTO skiplane.answered_request SELECT i, 1, 1, now() - (i % 2 * 2 + 23) * "
      "interval '1 hour', gen_random_uuid() FROM generate_series(1, 1000) i");
  const int64_t pages = Number("SELECT pg_relation_size('skiplane.answered_request') / 8192");
  ASSERT_GT(pages, 4);
  const auto in_pages = [this](const char* condition) {
    return Number(absl::StrCat("SELECT count(*) FROM skiplane.answered_request WHERE ", condition));
  };
  const int64_t in_second = in_pages("(ctid::text::point)[0] = 1 AND head % 2 = 1");
  const ExpiredRequests second =
      Required(ExpireAnsweredRequests(*session_, 1, 1, absl::Hours(24)));
  EXPECT_EQ(second.removed, in_second);
  EXPECT_EQ(second.pages, pages);
  EXPECT_EQ(Required(ExpireAnsweredRequests(*session_, pages, 64, absl::Hours(24))).removed, 0);
  EXPECT_EQ(Required(ExpireAnsweredRequests(*session_, 0, pages, absl::Hours(24))).removed,
            500 - in_second);
  EXPECT_EQ(in_pages("head % 2 = 0"), 500);
}

TEST_F(RetentionTest, PartitionsAreMadeAheadOnce) {
  const auto days = [this] {
    return Number("SELECT count(*) FROM pg_inherits "
                  "WHERE inhparent = 'skiplane.history'::regclass");
  };
  const int64_t before = days();
  const int64_t made = Required(MakePartitions(*session_, 30));
  EXPECT_GE(made, 3 * 22);
  EXPECT_EQ(days(), before + made / 3);  // as many of pack_history, and of task_failed
  EXPECT_THAT(MakePartitions(*session_, 30), IsOkAndHolds(0));
}

TEST_F(RetentionTest, HistoryOfTodayGoesToThePartitionOfToday) {
  Put(2);
  const auto tokens = testing::TokensOf(Take(2));
  Settle({tokens[0]}, Action::kAck);
  Settle({tokens[1]}, Action::kFail);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history_default"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed_default"), 0);
}

}  // namespace
}  // namespace skiplane::store
