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
