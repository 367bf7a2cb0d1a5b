#include "gmock/gmock.h"
#include "server/upkeep/round.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::StatusIs;

class RoundTest : public testing::UpkeepHarness {
 protected:
  // The lanes that one pass of `round` visits.
  std::vector<int64_t> Pass(Round& round, const std::vector<int64_t>& lanes) {
    std::vector<int64_t> visited;
    EXPECT_THAT(round.Visit(*session_, lanes,
                            [&](int64_t lane) -> absl::StatusOr<bool> {
                              visited.push_back(lane);
                              return true;
                            }),
                IsOk());
    return visited;
  }
};

TEST_F(RoundTest, VisitsEveryLaneInOrder) {
  Round round(absl::Seconds(60));
  EXPECT_THAT(Pass(round, {3, 1, 2}), ElementsAre(1, 2, 3));
  EXPECT_TRUE(round.is_complete());
}

TEST_F(RoundTest, APassThatIsCutShortIsContinuedByTheNext) {
  Round round(absl::ZeroDuration());
  EXPECT_THAT(Pass(round, {1, 2, 3}), ElementsAre(1));
  EXPECT_FALSE(round.is_complete());
  EXPECT_THAT(Pass(round, {1, 2, 3}), ElementsAre(2));
  EXPECT_THAT(Pass(round, {1, 2, 3}), ElementsAre(3));
  EXPECT_TRUE(round.is_complete());
  EXPECT_THAT(Pass(round, {1, 2, 3}), ElementsAre(1));
}

TEST_F(RoundTest, BeginsAgainWhenTheLanesThatWereLeftAreGone) {
  Round round(absl::ZeroDuration());
  Pass(round, {1, 2});
  EXPECT_THAT(Pass(round, {1}), ElementsAre(1));
  EXPECT_TRUE(round.is_complete());
}

TEST_F(RoundTest, ALaneThatFailsDoesNotStopTheOthers) {
  Round round(absl::Seconds(60));
  int visits = 0;
  const absl::Status status =
      round.Visit(*session_, {1, 2, 3}, [&](int64_t lane) -> absl::StatusOr<bool> {
        ++visits;
        if (lane == 1) return absl::AbortedError("first");
        if (lane == 2) return absl::InternalError("second");
        return true;
      });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(visits, 3);
}

TEST_F(RoundTest, ALaneWithWorkLeftKeepsTheRoundIncomplete) {
  Round round(absl::Seconds(60));
  ASSERT_THAT(round.Visit(*session_, {1, 2}, [](int64_t lane) { return lane == 2; }), IsOk());
  EXPECT_FALSE(round.is_complete());
  Pass(round, {1, 2});
  EXPECT_TRUE(round.is_complete());
}

TEST_F(RoundTest, EndsWhenTheConnectionBreaks) {
  Round round(absl::Seconds(60));
  int visits = 0;
  const auto session = Open();
  const absl::Status status =
      round.Visit(*session, {1, 2, 3}, [&](int64_t) -> absl::StatusOr<bool> {
        ++visits;
        Sql(absl::StrCat("SELECT pg_terminate_backend(", session->backend_pid(), ", 10000)"));
        return absl::UnavailableError("gone");
      });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(visits, 1);
}

}  // namespace
}  // namespace skiplane::upkeep
