// Schedules that are declared for keys, at the level of the statement.
#include <thread>

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::IsOk;
using testing::KeyedTask;
using testing::Required;

class DeclareTest : public testing::StoreHarness {
 protected:
  static model::NewTask Hourly(int hours = 1, const std::string& key = "k") {
    model::NewTask task = KeyedTask(key);
    task.key_policy = model::KeyPolicy::kSchedule;
    task.period = absl::Hours(hours);
    return task;
  }

  Enqueued Declare(const std::vector<model::NewTask>& tasks) {
    return Required(EnqueueOnce(*session_, Rows(tasks), {}));
  }

  // As the task's row says: what was written, and by whom.
  std::string Row() const { return Sql("SELECT xmin, t.* FROM skiplane.task t"); }
};

TEST_F(DeclareTest, ANewKeyMakesATaskThatIsReady) {
  const Enqueued made = Declare({Hourly()});
  EXPECT_THAT(made.made, SizeIs(1));
  ASSERT_THAT(made.unleased, SizeIs(1));
  EXPECT_TRUE(made.unleased[0].is_ready);
}

TEST_F(DeclareTest, TheSameDeclarationWritesNothing) {
  Declare({Hourly()});
  const std::string before = Row();
  const Enqueued again = Declare({Hourly()});
  EXPECT_THAT(again.made, IsEmpty());
  EXPECT_THAT(again.changed, IsEmpty());
  EXPECT_THAT(again.unleased, IsEmpty());
  EXPECT_EQ(Row(), before);
}

TEST_F(DeclareTest, AnotherScheduleMovesAWaitingTask) {
  Declare({Hourly()});
  const Enqueued moved = Declare({Hourly(2)});
  ASSERT_THAT(moved.changed, SizeIs(1));
  EXPECT_EQ(moved.changed.begin()->second.outcome, model::EnqueueOutcome::kReplaced);
  ASSERT_THAT(moved.unleased, SizeIs(1));
  EXPECT_FALSE(moved.unleased[0].is_ready);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE planned_time = schedule_time AND "
                   "schedule_time BETWEEN now() + interval '119 min' AND now() + interval '2 h'"),
            1);
}

TEST_F(DeclareTest, ARunningOrPausedTaskIsNotToldAsOneThatWaits) {
  Declare({Hourly()});
  const model::LeaseToken token = TakeOne();
  const Enqueued running = Declare({Hourly(2)});
  EXPECT_THAT(running.changed, SizeIs(1));
  EXPECT_THAT(running.unleased, IsEmpty());
  EXPECT_EQ(Settle({token}, Action::kAck), 1u);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE state = 1 AND planned_time > now()"),
            1);
  Sql("INSERT INTO skiplane.counter_delta (lane, stage, due, waiting) "
      "SELECT lane, stage, due, -1 FROM skiplane.task UNION ALL "
      "SELECT lane, stage, 2147483647, 1 FROM skiplane.task; "
      "UPDATE skiplane.task SET paused = true, schedule_time = 'infinity', due = 2147483647");
  const Enqueued paused = Declare({Hourly(3)});
  EXPECT_THAT(paused.changed, SizeIs(1));
  EXPECT_THAT(paused.unleased, IsEmpty());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE paused AND "
                   "schedule_time = 'infinity' AND period = 10800000000"),
            1);
}

TEST_F(DeclareTest, AnEndedTaskStartsAgainLater) {
  const int64_t id = PutOne(KeyedTask("k"));
  EXPECT_EQ(Settle({TakeOne()}, Action::kFail), 1u);
  const Enqueued again = Declare({Hourly()});
  ASSERT_THAT(again.changed, SizeIs(1));
  EXPECT_EQ(again.changed.begin()->second.id.id, id);
  EXPECT_EQ(again.changed.begin()->second.outcome, model::EnqueueOutcome::kRestarted);
  ASSERT_THAT(again.unleased, SizeIs(1));
  EXPECT_FALSE(again.unleased[0].is_ready);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed"), 0);
}

TEST_F(DeclareTest, OfTwoSessionsTheSecondWaitsAndComparesWithWhatTheFirstMade) {
  Declare({Hourly()});
  const std::vector<model::NewTask> tasks = {Hourly(2)};
  const auto early = Open();
  const auto late = Open();
  const std::vector<TaskRow> first = Rows(tasks);
  const std::vector<TaskRow> second = Rows(tasks);
  ASSERT_THAT(early->RunText("BEGIN"), IsOk());
  EXPECT_THAT(Required(EnqueueOnce(*early, first, {})).changed, SizeIs(1));
  absl::StatusOr<Enqueued> waited = Enqueued();
  std::thread waiter([&] { waited = EnqueueOnce(*late, second, {}); });
  WaitUntilBlocked(*late);
  ASSERT_THAT(early->RunText("COMMIT"), IsOk());
  waiter.join();
  ASSERT_THAT(waited, IsOk());
  EXPECT_THAT(waited->changed, IsEmpty());
}

// A plain task with a version took the key, and the schedule that was declared beside it was lost.
TEST_F(DeclareTest, ADeclarationHoldsBesideAPlainTaskOfItsKey) {
  const model::KeyPolicy kinds[] = {
      model::KeyPolicy::kKeep, model::KeyPolicy::kKeepUnfinished, model::KeyPolicy::kRerunIfNewer,
      model::KeyPolicy::kReplaceWaiting};
  enum class Before { kNew, kFinished, kWaiting, kPeriodic };
  int number = 0;
  for (const model::KeyPolicy kind : kinds) {
    for (const Before before :
         {Before::kNew, Before::kFinished, Before::kWaiting, Before::kPeriodic}) {
      const std::string key = absl::StrCat("key", ++number);
      SCOPED_TRACE(absl::StrCat(static_cast<int>(kind), " ", static_cast<int>(before)));
      if (before == Before::kPeriodic) Declare({Hourly(1, key)});
      if (before == Before::kFinished || before == Before::kWaiting) PutOne(KeyedTask(key));
      if (before == Before::kFinished) {
        EXPECT_EQ(Settle({TakeOne()}, Action::kAck), 1u);
      }
      model::NewTask plain = KeyedTask(key);
      plain.key_policy = kind;
      plain.version = 7;
      Declare({plain, Hourly(2, key)});
      EXPECT_EQ(Number(absl::StrCat("SELECT count(*) FROM skiplane.task WHERE period = 7200000000 "
                                    "AND key = '", key, "' AND planned_time >= schedule_time")), 1);
      Sql(absl::StrCat("UPDATE skiplane.task SET paused = true, schedule_time = 'infinity', "
                       "due = 2147483647 WHERE key = '", key, "'"));
    }
  }
}

TEST_F(DeclareTest, ARunningTaskTakesTheScheduleAndRunsAgainForANewerVersion) {
  PutOne(KeyedTask("k"));
  const model::LeaseToken token = TakeOne();
  model::NewTask newer = KeyedTask("k");
  newer.key_policy = model::KeyPolicy::kRerunIfNewer;
  newer.version = 2;
  const Enqueued both = Declare({newer, Hourly(2)});
  EXPECT_THAT(both.changed, SizeIs(2));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE rerun_pending AND period > 0"), 1);
  EXPECT_EQ(Settle({token}, Action::kAck), 1u);
}

TEST_F(DeclareTest, PoliciesOfOneCallDoNotDisturbEachOther) {
  Declare({Hourly(1, "a"), Hourly(1, "b")});
  model::NewTask replaces = KeyedTask("c");
  replaces.key_policy = model::KeyPolicy::kReplaceWaiting;
  const Enqueued all = Declare({Hourly(1, "a"), replaces, Hourly(2, "b"), Hourly(1, "new")});
  EXPECT_THAT(all.made, SizeIs(2));
  EXPECT_THAT(all.changed, SizeIs(1));
}

}  // namespace
}  // namespace skiplane::store
