#include "server/store/clock.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/store/peers.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using testing::IsOk;
using testing::IsOkAndHolds;
using testing::Required;
using testing::UuidOf;

class ClockTest : public testing::StoreHarness {
 protected:
  std::optional<ClockStep> Note() {
    return Required(NoteClockStep(*session_, UuidOf(1), absl::Seconds(1), absl::ZeroDuration()));
  }
  // As if the clock had shown an hour more until now.
  void SetBack() {
    Required(TakeLead(*session_, UuidOf(1), absl::Minutes(1)));
    Sql("UPDATE skiplane.upkeep_lead SET reclaim_time = now() + interval '1 hour'");
  }
};

TEST_F(ClockTest, AStepIsNotedOnceAndOpenUntilItIsClosed) {
  EXPECT_FALSE(Note().has_value()) << "nobody leads";
  SetBack();
  const std::optional<ClockStep> step = Note();
  ASSERT_TRUE(step.has_value());
  EXPECT_GT(step->Back(), absl::Minutes(59));
  EXPECT_FALSE(Note().has_value());
  EXPECT_TRUE(Required(FindOpenClockStep(*session_)).has_value());
  EXPECT_THAT(MendSessions(*session_, *step, 10), IsOkAndHolds(0));
  EXPECT_EQ(Required(MendTasks(*session_, *step, 1, 0, 0, 10)).tasks, 0);
  ASSERT_THAT(CloseClockStep(*session_, *step), IsOk());
  EXPECT_FALSE(Required(FindOpenClockStep(*session_)).has_value());
}

TEST_F(ClockTest, AStepConcernsTimesAheadUntilTheClockHasCaughtUp) {
  SetBack();
  const std::optional<ClockStep> step = Note();
  ASSERT_TRUE(step.has_value());
  const auto felt = [&](absl::Time schedule_time) {
    return Required(FindClockStepBefore(*session_, schedule_time)).has_value();
  };
  EXPECT_TRUE(felt(step->old_time + absl::Hours(1)));
  EXPECT_FALSE(felt(step->seen_time - absl::Hours(1)));
  Sql("UPDATE skiplane.clock_step SET old_time = now() - interval '1 s'");
  EXPECT_FALSE(felt(step->old_time + absl::Hours(1)));
}

}  // namespace
}  // namespace skiplane::store
