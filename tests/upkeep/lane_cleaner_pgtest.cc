#include "server/upkeep/lane_cleaner.h"

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "server/upkeep/error_folder.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::Required;

class LaneCleanerTest : public testing::UpkeepHarness {
 protected:
  // The lanes that a pass cleans, of which `left` are not done with.
  std::vector<int64_t> Pass(LaneCleaner& cleaner, int64_t left = 0) {
    std::vector<int64_t> visited;
    EXPECT_THAT(cleaner.Visit(*session_,
                              [&](int64_t lane) -> absl::StatusOr<bool> {
                                visited.push_back(lane);
                                return lane != left;
                              }),
                IsOk());
    return visited;
  }
};

TEST_F(LaneCleanerTest, CleansALaneOnceForManyFolds) {
  LaneCleaner cleaner(absl::ZeroDuration(), absl::Minutes(1));
  for (int i = 0; i < 3; ++i) cleaner.Note(7);
  cleaner.Note(5);
  EXPECT_THAT(Pass(cleaner), ElementsAre(5, 7));
  EXPECT_THAT(Pass(cleaner), IsEmpty());
}

TEST_F(LaneCleanerTest, ALaneIsDueSomeTimeAfterItsFold) {
  LaneCleaner cleaner(absl::Hours(1), absl::Minutes(1));
  cleaner.Note(7);
  EXPECT_THAT(Pass(cleaner), IsEmpty());
}

TEST_F(LaneCleanerTest, GoesOnWhereMuchIsLeft) {
  LaneCleaner cleaner(absl::ZeroDuration(), absl::Minutes(1));
  cleaner.Note(5);
  cleaner.Note(7);
  EXPECT_THAT(Pass(cleaner, 5), ElementsAre(5, 7));
  EXPECT_THAT(Pass(cleaner), ElementsAre(5));
  EXPECT_THAT(Pass(cleaner), IsEmpty());
}

// One whose statement takes too long was tried in each pass, twice a second.
TEST_F(LaneCleanerTest, ALaneThatFailsIsDueAgainLater) {
  const absl::Duration after = absl::Milliseconds(100);
  LaneCleaner cleaner(after, absl::Minutes(1));
  cleaner.Note(7);
  bool has_failed = false;
  absl::Time failed_at;
  while (!has_failed) {
    const absl::Status status = cleaner.Visit(*session_, [&](int64_t) -> absl::StatusOr<bool> {
      failed_at = absl::Now();
      return absl::DeadlineExceededError("too many");
    });
    has_failed = absl::IsDeadlineExceeded(status);
  }
  const absl::Time generous = absl::Now() + absl::Minutes(1);
  std::vector<int64_t> visited;
  while (visited.empty() && absl::Now() < generous) visited = Pass(cleaner);
  EXPECT_THAT(visited, ElementsAre(7));
  EXPECT_GE(absl::Now() - failed_at, after / 2);
}

TEST_F(LaneCleanerTest, TheErrorFolderRemovesOldGroupsOfLanesInWhichNothingHappens) {
  Sql(absl::StrCat("INSERT INTO skiplane.error_group (lane, stage, fingerprint, retrying, failed, "
                   "first_seen_time, last_seen_time, tasks) SELECT ", lane_, ", 0, 'old', 0, 0, "
                   "now(), now() - interval '8 days', '{}'"));
  ErrorFolder folder(absl::ZeroDuration());
  EXPECT_EQ(Required(folder.RunOnce(*session_)).removed, 1);
}

TEST_F(LaneCleanerTest, TheErrorFolderRemovesOldGroupsSomeTimeAfterAFold) {
  PutOne({}, 1);
  const model::TaskError error{"Boom", "it broke", "print"};
  store::SettleBatch batch = Batch({TakeOne()}, store::Action::kFail);
  batch.rows[0].error = &error;
  Required(store::Settle(*session_, batch));
  Sql(absl::StrCat("INSERT INTO skiplane.error_group (lane, stage, fingerprint, retrying, failed, "
                   "first_seen_time, last_seen_time, tasks) SELECT ", lane_, ", 0, 'old', 0, 0, "
                   "now(), now() - interval '8 days', '{}'"));
  ErrorFolder folder(absl::ZeroDuration());
  const ErrorFoldResult result = Required(folder.RunOnce(*session_));
  EXPECT_EQ(result.deltas, 1);
  EXPECT_EQ(result.removed, 1);
  EXPECT_EQ(Sql("SELECT fingerprint FROM skiplane.error_group"), "print");
  EXPECT_EQ(Required(folder.RunOnce(*session_)).removed, 0);
}

}  // namespace
}  // namespace skiplane::upkeep
