#include "server/upkeep/reclaimer.h"

#include <thread>

#include "gmock/gmock.h"
#include "server/store/reclaim.h"
#include "tests/support/status_matchers.h"
#include "tests/upkeep/upkeep_harness.h"

namespace skiplane::upkeep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IdsOf;
using testing::IsOk;
using testing::ReasonIs;
using testing::Required;
using testing::TokensOf;

using ReclaimerTest = testing::UpkeepHarness;

TEST_F(ReclaimerTest, TasksOfASilentWorkerAreFreeAgainAndCharged) {
  const std::vector<int64_t> ids = Put(3);
  Take(3, Worker("silent"));
  Silence("silent");
  const ReclaimResult result = Reclaim();
  EXPECT_EQ(result.lost, 1);
  EXPECT_EQ(result.freed, 3);
  EXPECT_EQ(result.forgotten, 1);
  const std::vector<store::LeasedRow> again = Take(3, Worker("next"));
  EXPECT_THAT(IdsOf(again), ElementsAre(ids[0], ids[1], ids[2]));
  EXPECT_EQ(again[0].task.token.attempt, 2);
  EXPECT_EQ(LostAttempts(), 3);
}

TEST_F(ReclaimerTest, ALivingWorkerKeepsItsTasks) {
  Put(2);
  const model::LeaseToken kept = TakeOne(Worker("living"));
  TakeOne(Worker("silent"));
  Silence("silent");
  EXPECT_EQ(Reclaim().freed, 1);
  EXPECT_TRUE(ClassifyOne(kept).is_held);
  EXPECT_EQ(Sessions(), 1);
}

TEST_F(ReclaimerTest, NeighboursInOneLedgerRowAreToldApart) {
  Put(2);
  store::LeaseDemand demand = Demand({1, 2});
  demand.callers[0].session = Worker("living");
  demand.callers[1].session = Worker("silent");
  demand.callers[1].ledger = demand.callers[0].ledger;
  const auto leased = Required(store::Lease(*session_, demand)).rows;
  Silence("silent");
  EXPECT_EQ(Reclaim().freed, 1);
  EXPECT_TRUE(ClassifyOne(leased[0].task.token).is_held);
  EXPECT_EQ(Settle({leased[0].task.token}, store::Action::kAck), 1u);
}

TEST_F(ReclaimerTest, WhatAnEndedSessionStillHoldsIsHandedBackUncharged) {
  Put(2, {}, 1);
  const pg::Uuid done = Worker("done");
  Take(1, done);
  End("done");
  Take(1, done);  // by a broker that believes that it lives
  const ReclaimResult result = Reclaim();
  EXPECT_EQ(result.lost, 0);
  EXPECT_EQ(result.freed, 0);
  EXPECT_EQ(result.handed_back, 2);
  EXPECT_EQ(Tasks("state = 1 AND attempt = 0"), 2);
  EXPECT_EQ(LostAttempts(), 0);
  EXPECT_THAT(metrics_.Text(), ::testing::ContainsRegex("outcome=\"released\"[^\n]*} 2\n"));
  EXPECT_EQ(Reclaim().handed_back, 0);
}

TEST_F(ReclaimerTest, ThousandsOfEndedSessionsDoNotKeepOthersFromTheirTurn) {
  Sql("INSERT INTO skiplane.worker_session "
      "(id, worker_id, state, lease_duration, expire_time, end_time, check_time) "
      "SELECT gen_random_uuid(), 'e' || i, 3, '1 h', now() + interval '1 h', now(), "
      "now() - interval '1 s' FROM generate_series(1, 2500) i");
  PutOne();
  TakeOne(Worker("silent"));
  Silence("silent");
  EXPECT_EQ(Reclaim().freed, 1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.worker_session WHERE check_time < now()"), 0);
}

TEST_F(ReclaimerTest, ATaskThatKilledItsLastWorkerFails) {
  PutOne(testing::KeyedTask("poison"), 1);
  TakeOne(Worker("silent"));
  Silence("silent");
  const ReclaimResult result = Reclaim();
  EXPECT_EQ(result.freed, 0);
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(Sql("SELECT error_type FROM skiplane.task_failed"), "LEASE_LOST");
  EXPECT_EQ(Sql("SELECT key FROM skiplane.task_key WHERE end_time IS NOT NULL"), "poison");
  EXPECT_EQ(Tasks("true"), 0);
}

TEST_F(ReclaimerTest, TheMetricsSayWhatWasLost) {
  Put(2, {}, 1);
  Put(1);
  Take(3, Worker("silent"));
  Silence("silent");
  Reclaim();
  const std::string page = metrics_.Text();
  EXPECT_THAT(page, HasSubstr("skiplane_sessions_lost_total 1\n"));
  EXPECT_THAT(page, ::testing::ContainsRegex("outcome=\"lost\"[^\n]*} 3\n"));
  EXPECT_THAT(page,
              ::testing::ContainsRegex("skiplane_tasks_finished[^\n]*=\"failed\"[^\n]*} 2\n"));
}

TEST_F(ReclaimerTest, ALateAckChangesNothing) {
  PutOne();
  const model::LeaseToken old = TakeOne(Worker("silent"));
  Silence("silent");
  Reclaim();
  EXPECT_EQ(Settle({old}, store::Action::kAck), 0u);
  const store::LeaseStatus status = ClassifyOne(old);
  EXPECT_TRUE(status.lives);
  EXPECT_FALSE(status.is_held);
  EXPECT_EQ(Tasks("state = 1"), 1);
}

TEST_F(ReclaimerTest, EveryLaneOfALostWorkerIsServed) {
  const pg::Uuid worker = Worker("silent");
  Put(2);
  Take(2, worker);
  lane_ = MakeLane("other");
  Put(3);
  Take(3, worker);
  Silence("silent");
  EXPECT_EQ(Reclaim().freed, 5);
  EXPECT_EQ(LedgerRows(), 0);
  EXPECT_EQ(Sessions(), 0);
}

TEST_F(ReclaimerTest, ALaneInTroubleDoesNotStopTheOthersAndKeepsTheSession) {
  const pg::Uuid worker = Worker("silent");
  PutOne();
  TakeOne(worker);
  BreakReclaimIn(lane_);
  lane_ = MakeLane("other");
  PutOne();
  TakeOne(worker);
  Silence("silent");
  EXPECT_THAT(reclaimer_.RunOnce(*session_, false), ReasonIs("INTERNAL_ERROR"));
  // Where the time was up after the first lane:
  reclaimer_.RunOnce(*session_, false).status().IgnoreError();
  EXPECT_EQ(Tasks("state = 1"), 1);
  EXPECT_EQ(Sessions(), 1) << "a ledger row still names it";
  RepairReclaim();
  EXPECT_EQ(Reclaim().freed, 1);
  EXPECT_EQ(Sessions(), 0);
}

// As many as a pass asks for were asked for in each pass, and nobody behind them.
TEST_F(ReclaimerTest, AThousandThatCannotBeDoneWithHoldUpNoOthers) {
  Put(1000);
  Take(1000, Worker("of all"));
  Sql("INSERT INTO skiplane.worker_session (id, state, lease_duration, expire_time) "
      "SELECT lpad(n::text, 32, '0')::uuid, 2, '1 s', now() FROM generate_series(1, 1000) n");
  Sql("UPDATE skiplane.lease_ledger SET sessions = "
      "(SELECT array_agg(lpad(n::text, 32, '0')::uuid) FROM generate_series(1, 1000) n)");
  Sql("UPDATE skiplane.task t SET session = l.sessions[array_position(l.tasks, t.id)] "
      "FROM skiplane.lease_ledger l");
  BreakReclaimIn(lane_);
  lane_ = MakeLane("other");
  PutOne();
  TakeOne(Worker("behind them"));
  Silence("behind them");
  EXPECT_FALSE(reclaimer_.RunOnce(*session_, false).ok());
  EXPECT_EQ(Tasks("state = 1"), 0);
  EXPECT_THAT(reclaimer_.RunOnce(*session_, false), IsOk());
  EXPECT_EQ(Tasks("state = 1"), 1);
  RepairReclaim();
  EXPECT_EQ(Reclaim().freed, 1000);
}

TEST_F(ReclaimerTest, ALaneInTroubleIsNoGap) {
  Required(store::TakeLead(*session_, testing::UuidOf(200), absl::Hours(1)));
  PutOne();
  TakeOne(Worker("silent"));
  BreakReclaimIn(lane_);
  Silence("silent");
  EXPECT_FALSE(reclaimer_.RunOnce(*session_, false).ok());
  EXPECT_TRUE(
      Required(store::TakeLead(*session_, testing::UuidOf(200), absl::Hours(1))).reclaimed_ago);
  RepairReclaim();
}

TEST_F(ReclaimerTest, ASessionStaysWhileALedgerRowThatIsLockedNamesIt) {
  PutOne();
  TakeOne(Worker("silent"));
  Silence("silent");
  const auto other = Open();
  ASSERT_THAT(other->RunText("BEGIN"), IsOk());
  ASSERT_THAT(other->RunText("SELECT id FROM skiplane.lease_ledger FOR UPDATE"), IsOk());
  EXPECT_EQ(Reclaim().freed, 1) << "the task need not wait for its ledger row";
  EXPECT_EQ(Sessions(), 1);
  ASSERT_THAT(other->RunText("ROLLBACK"), IsOk());
  EXPECT_EQ(Reclaim().freed, 0);
  EXPECT_EQ(Sessions(), 0);
}

TEST_F(ReclaimerTest, ThousandsOfLostSessionsGoInOnePass) {
  Sql("INSERT INTO skiplane.worker_session (id, lease_duration, expire_time) "
      "SELECT gen_random_uuid(), '1 s', now() - interval '1 s' FROM generate_series(1, 3500)");
  const ReclaimResult result = Reclaim();
  EXPECT_EQ(result.forgotten, 3500);
  EXPECT_EQ(Sessions(), 0);
}

// One was told lost, and it waited for tasks all the while.
TEST_F(ReclaimerTest, AWorkerThatHeldNothingIsForgottenAndNotCountedAsLost) {
  Worker("never had any");
  Put(1);
  Settle({TakeOne(Worker("done with it"))}, store::Action::kAck);
  Silence("never had any");
  Silence("done with it");
  const ReclaimResult result = Reclaim();
  EXPECT_EQ(result.lost, 0);
  EXPECT_EQ(result.forgotten, 2);
  EXPECT_THAT(metrics_.Text(), HasSubstr("skiplane_sessions_lost_total 0\n"));
}

TEST_F(ReclaimerTest, ALostSessionThatTakesSeveralPassesIsCountedOnce) {
  const pg::Uuid worker = Worker("silent");
  PutOne();
  TakeOne(worker);
  BreakReclaimIn(lane_);
  lane_ = MakeLane("other");
  PutOne();
  TakeOne(worker);
  Silence("silent");
  while (Tasks("state = 1") == 0) reclaimer_.RunOnce(*session_, false).status().IgnoreError();
  RepairReclaim();
  EXPECT_EQ(Reclaim().freed, 1);
  EXPECT_THAT(metrics_.Text(), HasSubstr("skiplane_sessions_lost_total 1\n"));
}

TEST_F(ReclaimerTest, AGraceGivesEverySessionOneFullTimeOut) {
  PutOne();
  const model::LeaseToken token = TakeOne(Worker("silent"));
  Silence("silent");
  const ReclaimResult result = Required(reclaimer_.RunOnce(*session_, true));
  EXPECT_EQ(result.spared, 1);
  EXPECT_EQ(result.lost, 0);
  EXPECT_TRUE(ClassifyOne(token).is_held);
  EXPECT_EQ(Sql("SELECT expire_time > now() + interval '59 min' "
                "FROM skiplane.worker_session"), "t");
}

TEST_F(ReclaimerTest, AGraceThatCouldNotBeGivenIsStillDue) {
  Worker("silent");
  Silence("silent");
  const auto dying = Open();
  Sql(absl::StrCat("SELECT pg_terminate_backend(", dying->backend_pid(), ", 10000)"));
  EXPECT_FALSE(reclaimer_.RunOnce(*dying, true).ok());
  EXPECT_EQ(Reclaim().spared, 1);
  EXPECT_EQ(Sessions(), 1);
}

TEST_F(ReclaimerTest, ALostSessionGetsNoGrace) {
  const pg::Uuid worker = Worker("silent");
  PutOne();
  TakeOne(worker);
  Sql("UPDATE skiplane.worker_session SET state = 2");
  EXPECT_EQ(Required(reclaimer_.RunOnce(*session_, true)).freed, 1);
}

TEST_F(ReclaimerTest, TwoAtOnceTakeEachTaskBackOnce) {
  constexpr int kTasks = 400;
  Put(kTasks);
  for (int i = 0; i < kTasks / 4; ++i) {
    Take(4, Worker(absl::StrCat("w", i)));
    Silence(absl::StrCat("w", i));
  }
  Sql("UPDATE skiplane.worker_session SET state = 2");  // so that both begin with all of them
  const auto run_until_empty = [this](Reclaimer& reclaimer, int64_t* freed) {
    const auto session = Open();
    while (!Required(store::FindGoneSessions(*session)).lost.empty()) {
      *freed += Required(reclaimer.RunOnce(*session, false)).freed;
    }
  };
  Reclaimer other(testing::UuidOf(201), &metrics_);
  int64_t freed = 0, freed_by_other = 0;
  std::thread thread([&] { run_until_empty(other, &freed_by_other); });
  run_until_empty(reclaimer_, &freed);
  thread.join();
  EXPECT_EQ(freed + freed_by_other, kTasks);
  EXPECT_EQ(LostAttempts(), kTasks);
  EXPECT_EQ(Tasks("state = 1 AND attempt = 1"), kTasks);
}

}  // namespace
}  // namespace skiplane::upkeep
