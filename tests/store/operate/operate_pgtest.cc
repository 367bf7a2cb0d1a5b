#include <thread>

#include "gmock/gmock.h"
#include "server/store/counts.h"
#include "server/store/reclaim.h"
#include "server/store/reports.h"
#include "server/store/retention.h"
#include "server/store/schedules.h"
#include "server/store/sessions.h"
#include "server/store/task_change.h"
#include "server/store/task_view.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using model::TaskChange;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::IsOk;
using testing::Required;

class OperateTest : public testing::StoreHarness {
 protected:
  Changes Change(TaskTable table, const std::vector<int64_t>& ids, TaskChange::Kind kind) {
    TaskChange change;
    change.kind = kind;
    return Required(ChangeTasks(*session_, table, lane_, ids, change, {}));
  }
  // Begun beside an open transaction that it waits for; ends after its commit.
  Changes ChangeBeside(pg::Session& open, int64_t id, const TaskChange& change) {
    absl::StatusOr<Changes> changes;
    std::thread changing([&] {
      changes = ChangeTasks(*session_, TaskTable::kLiving, lane_, {id}, change, {});
    });
    WaitUntilBlocked(*session_);
    Required(open.RunText("COMMIT"));
    changing.join();
    return Required(changes);
  }
  std::vector<int64_t> Find(TaskTable table, const model::TaskFilter& filter) {
    return Required(FindTasks(*session_, {table, lane_, 0, 100, 100}, filter, std::nullopt)).ids;
  }
  static model::TaskFilter All() {
    model::TaskFilter filter;
    filter.queue = "q";
    filter.states = {true, true, true, true, true, true};
    return filter;
  }
};

TEST_F(OperateTest, StepsGoThroughALaneInSlices) {
  const std::vector<int64_t> ids = Put(7);
  Step step{TaskTable::kLiving, lane_, 0, 3, 100};
  std::vector<int64_t> found;
  int steps = 0;
  for (std::optional<int64_t> after = 0; after.has_value(); ++steps) {
    step.after = *after;
    const Matches matches = Required(FindTasks(*session_, step, All(), std::nullopt));
    found.insert(found.end(), matches.ids.begin(), matches.ids.end());
    after = matches.next_after;
  }
  EXPECT_EQ(found, ids);
  EXPECT_EQ(steps, 3);
}

TEST_F(OperateTest, AFullPageGoesOnAfterItsLastMatch) {
  const std::vector<int64_t> ids = Put(5);
  const Step step{TaskTable::kLiving, lane_, 0, 100, 2};
  const Matches matches = Required(FindTasks(*session_, step, All(), std::nullopt));
  EXPECT_THAT(matches.ids, ElementsAre(ids[0], ids[1]));
  EXPECT_EQ(matches.next_after, ids[1]);
  EXPECT_EQ(matches.scanned, 2) << "what is behind the page is counted with the next one";
}

TEST_F(OperateTest, AFinishedTaskIsFoundWhereverASliceCutsItsAttempts) {
  const std::vector<int64_t> ids = Put(3);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const auto tokens = testing::TokensOf(Take(3));
    Settle(tokens, attempt < 3 ? Action::kRetry : Action::kAck);
    LetTimePass();
  }
  for (int rows = 1; rows <= 10; ++rows) {
    std::vector<int64_t> found;
    for (std::optional<int64_t> after = 0; after.has_value();) {
      const Step step{TaskTable::kFinished, lane_, *after, rows, 100};
      const Matches matches = Required(FindTasks(*session_, step, All(), std::nullopt));
      found.insert(found.end(), matches.ids.begin(), matches.ids.end());
      after = matches.next_after;
    }
    EXPECT_EQ(found, ids) << "slices of " << rows;
  }
}

TEST_F(OperateTest, FinishedAndFailedTasksAreFoundWhereTheyAre) {
  const std::vector<int64_t> ids = Put(3);
  const auto tokens = testing::TokensOf(Take(2));
  Settle({tokens[0]}, Action::kAck);
  Settle({tokens[1]}, Action::kFail);
  EXPECT_THAT(Find(TaskTable::kFinished, All()), ElementsAre(ids[0]));
  EXPECT_THAT(Find(TaskTable::kFailed, All()), ElementsAre(ids[1]));
  EXPECT_THAT(Find(TaskTable::kLiving, All()), ElementsAre(ids[2]));
  EXPECT_THAT(TablesOf(All().states), SizeIs(3));
}

TEST_F(OperateTest, PeriodicTasksAndOthersAreFoundApart) {
  const std::vector<int64_t> ids = Put(4);
  const auto tokens = testing::TokensOf(Take(2));
  Settle({tokens[0]}, Action::kAck);
  Settle({tokens[1]}, Action::kFail);
  Sql(absl::StrCat("UPDATE skiplane.task SET period = 1000000, planned_time = now() WHERE id = ",
                   ids[2]));
  model::TaskFilter filter = All();
  EXPECT_THAT(Find(TaskTable::kLiving, filter), ElementsAre(ids[2], ids[3]));
  filter.periodic = true;
  EXPECT_THAT(Find(TaskTable::kLiving, filter), ElementsAre(ids[2]));
  EXPECT_THAT(Find(TaskTable::kFinished, filter), IsEmpty());
  EXPECT_THAT(Find(TaskTable::kFailed, filter), IsEmpty());
  filter.periodic = false;
  EXPECT_THAT(Find(TaskTable::kLiving, filter), ElementsAre(ids[3]));
  EXPECT_THAT(Find(TaskTable::kFinished, filter), ElementsAre(ids[0]));
  EXPECT_THAT(Find(TaskTable::kFailed, filter), ElementsAre(ids[1]));
}

TEST_F(OperateTest, EveryChangeKeepsTheCountsExact) {
  const std::vector<int64_t> ids = Put(6);
  EXPECT_THAT(Change(TaskTable::kLiving, {ids[0]}, TaskChange::Kind::kPrioritize).tasks, SizeIs(1));
  EXPECT_THAT(Change(TaskTable::kLiving, {ids[1]}, TaskChange::Kind::kRunNow).tasks, SizeIs(1));
  TaskChange later;
  later.kind = TaskChange::Kind::kPostpone;
  later.postpone = absl::Hours(1);
  EXPECT_THAT(
      Required(ChangeTasks(*session_, TaskTable::kLiving, lane_, {ids[2]}, later, {})).tasks,
      SizeIs(1));
  EXPECT_THAT(Change(TaskTable::kLiving, {ids[3]}, TaskChange::Kind::kDelete).tasks, SizeIs(1));
  EXPECT_THAT(Change(TaskTable::kLiving, {ids[4]}, TaskChange::Kind::kPause).tasks, IsEmpty());
  EXPECT_THAT(Change(TaskTable::kLiving, {ids[5], ids[5]}, TaskChange::Kind::kRetry).tasks,
              IsEmpty());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 5);
}

TEST_F(OperateTest, AFailedTaskStartsAgainUnlessItsKeyIsTaken) {
  model::NewTask keyed;
  keyed.key = "k";
  const int64_t id = PutOne();
  Settle({testing::TokensOf(Take(1))[0]}, Action::kFail);
  Sql("UPDATE skiplane.task_failed SET key = 'k'");
  Sql(absl::StrCat("INSERT INTO skiplane.task_key (lane, key, task_id) VALUES (", lane_,
                   ", 'k', 1)"));
  EXPECT_THAT(Change(TaskTable::kFailed, {id}, TaskChange::Kind::kRetry).tasks, IsEmpty());
  Sql("DELETE FROM skiplane.task_key");
  EXPECT_THAT(Change(TaskTable::kFailed, {id}, TaskChange::Kind::kRetry).tasks, SizeIs(1));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_key WHERE end_time IS NULL"), 1);
}

// Each of them made all brokers look at all of their leases.
TEST_F(OperateTest, ACancellationThatIsRepeatedTellsNobodyOnceMore) {
  const int64_t id = PutOne();
  Required(TouchSessions(*session_, {{"w", "", testing::UuidOf(1), absl::Hours(1), {}, {}}}));
  TakeOne();
  EXPECT_THAT(Change(TaskTable::kLiving, {id}, TaskChange::Kind::kCancel).tasks, SizeIs(1));
  const std::string told = "SELECT count(*) FROM skiplane.worker_session WHERE recheck_until > 0";
  EXPECT_EQ(Number(told), 1);
  Sql("UPDATE skiplane.worker_session SET recheck_until = 0");
  EXPECT_THAT(Change(TaskTable::kLiving, {id}, TaskChange::Kind::kCancel).tasks, SizeIs(1));
  EXPECT_EQ(Number(told), 0);
}

// The change waits for the lease, and then once found nothing at the location that it knew.
TEST_F(OperateTest, AChangeThatMeetsALeaseIsMadeAfterIt) {
  const int64_t id = PutOne();
  const auto leasing = Open();
  ASSERT_THAT(leasing->RunText("BEGIN"), IsOk());
  ASSERT_THAT(Lease(*leasing, Demand({1})), IsOk());
  TaskChange change;
  change.kind = TaskChange::Kind::kPrioritize;
  change.priority = 7;
  EXPECT_THAT(ChangeBeside(*leasing, id, change).tasks, SizeIs(1));
  EXPECT_EQ(Number("SELECT priority FROM skiplane.task WHERE state = 2"), 7);
}

TEST_F(OperateTest, ADeletionThatMeetsARetryIsMadeAfterIt) {
  const int64_t id = PutOne();
  const model::LeaseToken token = TakeOne();
  const auto settling = Open();
  ASSERT_THAT(settling->RunText("BEGIN"), IsOk());
  ASSERT_THAT(store::Settle(*settling, Batch({token}, Action::kRelease)), IsOk());
  TaskChange change;
  change.kind = TaskChange::Kind::kDelete;
  EXPECT_THAT(ChangeBeside(*settling, id, change).tasks, SizeIs(1));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
}

// A key that stayed behind would refuse its renewals for ever.
TEST_F(OperateTest, ADeletionThatMeetsARenewalTakesTheKeyAlong) {
  const int64_t id = PutOne(testing::KeyedTask("k"));
  model::NewTask renewed = testing::KeyedTask("k");
  renewed.key_policy = model::KeyPolicy::kReplaceWaiting;
  renewed.version = 2;
  const auto renewing = Open();
  ASSERT_THAT(renewing->RunText("BEGIN"), IsOk());
  ASSERT_THAT(EnqueueOnce(*renewing, {TaskRow{{lane_, id + 1}, &renewed, 10}}, {}), IsOk());
  TaskChange change;
  change.kind = TaskChange::Kind::kDelete;
  EXPECT_THAT(ChangeBeside(*renewing, id, change).tasks, SizeIs(1));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_key"), 0);
}

TEST_F(OperateTest, ErrorGroupsAreTheSameFoldedOrNot) {
  Put(3);
  for (const auto& row : Take(3)) {
    const model::TaskError error{"Boom", "text", "print"};
    SettleBatch batch;
    batch.lane = lane_;
    batch.rows.push_back({row.task.token, Action::kRetry, absl::Hours(1), &error, {}, nullptr, {}});
    Required(store::Settle(*session_, batch));
  }
  for (int fold = 0; fold < 2; ++fold) {
    const auto page = Required(
        ListErrorGroups(*session_, {{lane_}, {lane_}}, std::nullopt, {}, 10, INT64_MAX));
    const auto& groups = page.items;
    ASSERT_THAT(groups, SizeIs(1));
    EXPECT_EQ(groups[0].retrying, 3);
    EXPECT_EQ(groups[0].type, "Boom");
    EXPECT_THAT(groups[0].task_ids, SizeIs(3)) << "folded: " << fold;
    EXPECT_THAT(groups[0].hourly_failures, SizeIs(48));
    EXPECT_EQ(groups[0].hourly_failures.back(), 3) << "folded: " << fold;
    for (const int64_t lane : Required(LanesWithErrorDeltas(*session_))) {
      Required(FoldErrors(*session_, lane, 100));
    }
  }
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.error_delta"), 0);
}

TEST_F(OperateTest, AnErrorGroupNamesFiveTasksOnceEachTheLatestFirst) {
  const auto add = [this](const char* seen_time, const char* tasks) {
    Sql(absl::StrCat("INSERT INTO skiplane.error_delta "
                     "(lane, stage, fingerprint, retrying, failed, seen_time, error_type, tasks) "
                     "VALUES (",
                     lane_, ", 0, 'f', 1, 0, '", seen_time, "', 'E', '", tasks, "')"));
  };
  const auto expect = [this](std::vector<int> ids) {
    std::vector<std::string> named;
    for (const int id : ids) named.push_back(absl::StrCat(lane_, "-", id));
    for (int fold = 0; fold < 2; ++fold) {
      const auto page = Required(
          ListErrorGroups(*session_, {{lane_}, {lane_}}, std::nullopt, {}, 10, INT64_MAX));
      ASSERT_THAT(page.items, SizeIs(1));
      EXPECT_THAT(page.items[0].task_ids, ElementsAreArray(named)) << "folded: " << fold;
      Required(FoldErrors(*session_, lane_, 1000));
    }
  };
  add("2026-11-29 12:00Z", "{1,2}");
  add("2026-11-29 12:01Z", "{2,3}");
  expect({2, 3, 1});
  add("2026-11-29 12:02Z", "{4}");
  expect({4, 2, 3, 1});
  add("2026-11-29 12:03Z", "{1,5,6}");
  expect({1, 5, 6, 4, 2});
  Sql("DELETE FROM skiplane.error_group");
  for (int delta = 0; delta < 700; ++delta) add("2026-11-29 12:04Z", "{123456}");
  expect({123456});
}

TEST_F(OperateTest, FailuresStayInTheirHourForTwoDays) {
  const auto add = [this](int hours_ago, int failures) {
    Sql(absl::StrCat("INSERT INTO skiplane.error_delta "
                     "(lane, stage, fingerprint, failed, seen_time, failures) VALUES (",
                     lane_, ", 0, 'print', 1, now() - interval '", hours_ago, " hours', ",
                     failures, ")"));
  };
  const auto read = [this] {
    const auto page = Required(
        ListErrorGroups(*session_, {{lane_}, {lane_}}, std::nullopt, {}, 10, INT64_MAX));
    EXPECT_THAT(page.items, SizeIs(1));
    return page.items.front().hourly_failures;
  };
  for (const int hours_ago : {0, 1, 5, 47, 48, 1000}) add(hours_ago, hours_ago + 1);
  Required(FoldErrors(*session_, lane_, 100));
  add(5, 100);
  std::vector<int64_t> hours(48);
  hours[47] = 1;
  hours[46] = 2;
  hours[42] = 106;
  hours[0] = 48;
  EXPECT_EQ(read(), hours);
  Required(FoldErrors(*session_, lane_, 100));
  EXPECT_EQ(read(), hours);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.error_group, jsonb_each(hourly_failures)"), 4);
}

TEST_F(OperateTest, OldKeysGoAndYoungOnesStay) {
  Sql(absl::StrCat("INSERT INTO skiplane.task_key (lane, key, task_id, end_time) VALUES (",
                   lane_, ", 'old', 1, now() - interval '8 days'), (", lane_,
                   ", 'young', 2, now() - interval '6 days'), (", lane_, ", 'held', 3, NULL)"));
  EXPECT_EQ(Required(ExpireKeys(*session_, lane_, 7, 100)), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_key"), 2);
}

// The ledger still names what was settled.
TEST_F(OperateTest, AWorkersTasksAreThoseThatItHolds) {
  Put(3);
  const Touch touch{"w", "joe", testing::UuidOf(9), absl::Hours(1), absl::ZeroDuration()};
  const pg::Uuid worker = Required(TouchSessions(*session_, {touch})).front().id;
  const std::vector<LeasedRow> held = Take(3, worker);
  Settle({held[1].task.token}, Action::kAck);
  const std::vector<model::Worker> workers = Required(ListWorkers(*session_, "", {}, 10));
  ASSERT_THAT(workers, SizeIs(1));
  EXPECT_EQ(workers[0].leased, 2);
  const std::string& handle = workers[0].handle;
  EXPECT_THAT(Required(TasksOfWorker(*session_, handle, 10)),
              ElementsAre(held[0].task.token.task, held[2].task.token.task));
  EXPECT_THAT(Required(TasksOfWorker(*session_, handle, 1)), SizeIs(1));
  EXPECT_THAT(Required(TasksOfWorker(*session_, "0123456789abcdef", 10)), IsEmpty());
}

TEST_F(OperateTest, ReportsOfAQuietInstallationAreEmpty) {
  EXPECT_THAT(ExpireStatistics(*session_, lane_), IsOk());
  EXPECT_FALSE(Required(DropPartition(*session_)));
  EXPECT_EQ(Required(ExpireDefaults(*session_, 10)), 0);
  EXPECT_THAT(Required(OldestLeases(*session_)), IsEmpty());
  EXPECT_THAT(Required(ListWorkers(*session_, "", {}, 10)), IsEmpty());
  EXPECT_THAT(Required(ReadStatistics(*session_, {lane_},
                                      {{}, {}, absl::Now() - absl::Hours(1), absl::Now()}, 10))
                  .items,
              IsEmpty());
  EXPECT_THAT(AddAudit(*session_, {"ann", "Test", "{}"}, "q", 3), IsOk());
  EXPECT_THAT(Required(ListAudit(*session_, {"q"}, INT64_MAX, 10, INT64_MAX)).records.items,
              SizeIs(1));
  EXPECT_THAT(Required(CheckSchedules(*session_, {{"* * * * *", "UTC"}, {"x", "UTC"}})),
              ElementsAre("", ::testing::StartsWith("cron: ")));
  EXPECT_THAT(Required(PreviewSchedule(*session_, {"* * * * *", "UTC"}, std::nullopt, 3)),
              SizeIs(3));
}

TEST_F(OperateTest, WorkersAreBusyWithTasksOfTheirStageWhileTheyLive) {
  Required(TouchSessions(*session_, {{"v", "", testing::UuidOf(1), absl::Hours(1), {}, {}},
                                     {"w", "", testing::UuidOf(2), absl::Hours(1), {}, {}}}));
  Put(3);
  EXPECT_EQ(Required(BusyWorkers(*session_, {lane_, 0})), 0);
  Required(store::Lease(*session_, Demand({1, 2, 2})));
  EXPECT_EQ(Required(BusyWorkers(*session_, {lane_, 0})), 2);
  EXPECT_EQ(Required(BusyWorkers(*session_, {lane_, 1})), 0);
  Sql("UPDATE skiplane.worker_session SET state = 2 WHERE worker_id = 'v'");
  EXPECT_EQ(Required(BusyWorkers(*session_, {lane_, 0})), 1);
}

TEST_F(OperateTest, TheAttemptsOfATaskAndWhatIsBeforeIt) {
  const int64_t id = PutOne();
  Settle({testing::TokensOf(Take(1))[0]}, Action::kRetry);
  EXPECT_THAT(
      Required(ListAttempts(*session_, {lane_, id}, absl::InfiniteFuture(), 10, INT64_MAX)).items,
      SizeIs(1));
  const std::vector<int64_t> ids = Put(3);
  const model::TaskView last = Required(GetTask(*session_, {lane_, ids[2]}));
  EXPECT_EQ(Required(TasksAhead(*session_, last)), 2 + Number("SELECT count(*) FROM skiplane.task "
                                                              "WHERE schedule_time < now()") - 3);
}

}  // namespace
}  // namespace skiplane::store
