#include "server/upkeep/chores.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Required;

class ChoresTest : public testing::UpkeepHarness {
 protected:
  // As if the dead had been looked for then, by whoever leads.
  void SetReclaimed(const std::string& when) const {
    Sql(absl::StrCat("UPDATE skiplane.upkeep_lead SET reclaim_time = ", when));
  }
  // However slow this machine is, the next pass comes in time, and who leads still does so. More
  // would look as if the clock had gone back.
  void MakeGapImpossible() const {
    SetReclaimed("now() + interval '900 ms', expire_time = now() + interval '10 s'");
  }

  Chores chores_{testing::UuidOf(201), &metrics_};
};

TEST_F(ChoresTest, APassAfterAnotherTakesTheTasksOfTheSilentBack) {
  PutOne();
  TakeOne(Worker("silent"));
  chores_.RunPass(*session_);
  Silence("silent");
  MakeGapImpossible();
  chores_.RunPass(*session_);
  EXPECT_EQ(Tasks("state = 1"), 1);
}

TEST_F(ChoresTest, TheDeadAreLookedForAlsoIfAStepOfTheClockCannotBeNoted) {
  PutOne();
  TakeOne(Worker("silent"));
  chores_.RunPass(*session_);
  Sql("ALTER TABLE skiplane.clock_step RENAME TO out_of_reach");
  SetReclaimed("now() + interval '1 hour', expire_time = now() + interval '10 s'");
  Silence("silent");
  chores_.RunPass(*session_);
  EXPECT_EQ(Tasks("state = 1"), 1);
}

TEST_F(ChoresTest, TheFirstPassEverGivesAGrace) {
  PutOne();
  TakeOne(Worker("silent"));
  Silence("silent");
  chores_.RunPass(*session_);
  EXPECT_EQ(Tasks("state = 2"), 1);
}

TEST_F(ChoresTest, AGapGivesAGrace) {
  PutOne();
  TakeOne(Worker("silent"));
  chores_.RunPass(*session_);
  Silence("silent");
  SetReclaimed("now() - interval '3 s'");
  chores_.RunPass(*session_);
  EXPECT_EQ(Tasks("state = 2"), 1);
}

TEST_F(ChoresTest, ABrokenConnectionGivesAGraceHoweverShortItWas) {
  PutOne();
  TakeOne(Worker("silent"));
  chores_.RunPass(*session_);
  chores_.NoteCutOff();
  Silence("silent");
  MakeGapImpossible();
  chores_.RunPass(*session_);
  EXPECT_EQ(Tasks("state = 2"), 1);
  EXPECT_FALSE(chores_.is_cut_off());
  Silence("silent");
  MakeGapImpossible();
  chores_.RunPass(*session_);
  EXPECT_EQ(Tasks("state = 1"), 1) << "one grace, not one in every pass";
}

TEST_F(ChoresTest, APassWithoutAnAnswerIsCutOff) {
  const auto dying = Open();
  Sql(absl::StrCat("SELECT pg_terminate_backend(", dying->backend_pid(), ", 10000)"));
  chores_.RunPass(*dying);
  EXPECT_TRUE(chores_.is_cut_off());
  EXPECT_THAT(metrics_.Text(), HasSubstr("skiplane_chore_failures_total{chore=\"leader\"} 1"));
}

TEST_F(ChoresTest, WhoDoesNotLeadDoesNothing) {
  metrics::Metrics metrics("test", "test");
  Chores others(testing::UuidOf(202), &metrics);
  others.RunPass(*session_);
  MakeGapImpossible();
  PutOne();
  TakeOne(Worker("silent"));
  Silence("silent");
  chores_.RunPass(*session_);
  EXPECT_EQ(Tasks("state = 2"), 1);
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("chore=\"reclaimer\"")));
  others.Resign(*session_);
  SetReclaimed("now() + interval '900 ms'");
  chores_.RunPass(*session_);
  EXPECT_EQ(Tasks("state = 1"), 1);
}

TEST_F(ChoresTest, EveryChoreHasItsTurnAndIsMeasured) {
  for (int i = 0; i < 8; ++i) chores_.RunPass(*session_);
  const std::string page = metrics_.Text();
  for (const char* job : {"leader", "reclaimer", "counter_folder", "ledger_folder", "retention",
                          "partitions", "hang_finder", "error_folder", "clock_mender",
                          "token_keys", "unused_sessions"}) {
    const std::string label = absl::StrCat("{chore=\"", job, "\"}");
    EXPECT_THAT(page, HasSubstr(absl::StrCat("duration_seconds_count", label)));
    EXPECT_THAT(page, HasSubstr(absl::StrCat("skiplane_chore_failures_total", label, " 0")));
  }
}

}  // namespace
}  // namespace skiplane::upkeep
