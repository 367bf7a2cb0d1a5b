#include "server/store/settle.h"

#include "gmock/gmock.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testing::IdsOf;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::KeyedTask;
using testing::Required;
using testing::TokensOf;

class SettleTest : public testing::StoreHarness {
 protected:
  Settled SettleOne(SettleBatch batch) {
    const std::vector<Settled> settled = Required(store::Settle(*session_, batch));
    testing::Require(settled.size() == 1, "one item was to be settled");
    return settled.front();
  }

  std::string History() const {
    return Sql("SELECT string_agg(concat_ws(':', outcome, attempt, "
               "CASE WHEN ends_task THEN 'last' END, error_type, "
               "convert_from(error_text, 'UTF8'), error_fingerprint), ' ' "
               "ORDER BY task_id, attempt) FROM skiplane.history");
  }

  const model::TaskError error_{"Boom", "it\nbroke", "print"};
};

TEST_F(SettleTest, AnAckByLocationEndsTheTask) {
  Put(3);
  const auto tokens = TokensOf(Take(3));
  EXPECT_THAT(AckByLocation(*session_, Batch({tokens[0], tokens[2]})),
              IsOkAndHolds(UnorderedElementsAre(0, 1)));
  EXPECT_EQ(Number("SELECT id FROM skiplane.task"), tokens[1].task.id);
  EXPECT_EQ(History(), "1:1:last 1:1:last");
}

TEST_F(SettleTest, AnAckByLocationTellsWhenItWas) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  absl::Time now = absl::InfinitePast();
  ASSERT_THAT(AckByLocation(*session_, Batch({token}), &now), IsOk());
  EXPECT_EQ(absl::ToUnixMicros(now), Number("SELECT (date_part('epoch', settle_time) * 1e6)::int8 "
                                            "FROM skiplane.settled"));
  EXPECT_GE(now, absl::FromUnixMicros(token.lease_number));
}

TEST_F(SettleTest, ARowThatMovedIsMissedByLocationAndSettledById) {
  Put(2);
  const auto tokens = TokensOf(Take(2));
  Sql(absl::StrCat("UPDATE skiplane.task SET priority = 9 WHERE id = ", tokens[0].task.id));
  EXPECT_THAT(AckByLocation(*session_, Batch(tokens)), IsOkAndHolds(ElementsAre(1)));
  EXPECT_EQ(SettleOne(Batch(tokens)).index, 0u);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
}

TEST_F(SettleTest, ARetryRunsAgainByTheDatabasesClock) {
  const int64_t id = PutOne();
  SettleBatch batch = Batch({TakeOne()}, Action::kRetry);
  batch.rows[0].delay = absl::Minutes(5);
  batch.rows[0].error = &error_;
  const Settled settled = SettleOne(batch);
  EXPECT_EQ(settled.outcome, Action::kRetry);
  ASSERT_TRUE(settled.schedule_time.has_value());
  EXPECT_EQ(*settled.schedule_time - settled.now, absl::Minutes(5));
  EXPECT_EQ(Number("SELECT (date_part('epoch', schedule_time) * 1e6)::int8 FROM skiplane.task "
                   "WHERE state = 1 AND attempt = 1 "
                   "AND due = ceil(date_part('epoch', schedule_time) / 10) "
                   "AND abs(date_part('epoch', schedule_time - now()) - 300) < 60"),
            absl::ToUnixMicros(*settled.schedule_time));
  EXPECT_THAT(Take(1), IsEmpty());
  LetTimePass();
  EXPECT_THAT(IdsOf(Take(1)), ElementsAre(id));
  EXPECT_EQ(History(), "2:1:Boom:it\nbroke:print");
}

TEST_F(SettleTest, ARetryWithoutDelayCanRunAtOnce) {
  PutOne(testing::TaskWithPriority(3));
  const Settled settled = SettleOne(Batch({TakeOne()}, Action::kRetry));
  EXPECT_EQ(settled.schedule_time, settled.now);
  EXPECT_EQ(settled.priority, 3);
  EXPECT_EQ(TakeOne().attempt, 2);
}

TEST_F(SettleTest, TheLastAttemptFails) {
  model::NewTask task = testing::TaskOf(std::string("pay\0load", 8));
  task.content_type = "text/plain";
  task.headers = {{"a", "b"}};
  PutOne(task, 2);
  Settle({TakeOne()}, Action::kRetry);
  SettleBatch batch = Batch({TakeOne()}, Action::kRetry);
  batch.rows[0].delay = absl::Minutes(5);
  batch.rows[0].error = &error_;
  const Settled settled = SettleOne(batch);
  EXPECT_EQ(settled.outcome, Action::kFail);
  EXPECT_FALSE(settled.schedule_time.has_value());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed WHERE attempt = 2 AND "
                   "max_attempts = 2 AND payload = '\\x706179006c6f6164' AND "
                   "content_type = 'text/plain' AND headers = '{\"a\": \"b\"}' AND "
                   "error_type = 'Boom' AND error_fingerprint = 'print' AND "
                   "error_text = 'it\nbroke'::bytea AND session = repeat('01', 16)::uuid"),
            1);
}

TEST_F(SettleTest, FailForGoodFailsAnyAttempt) {
  PutOne();
  SettleBatch batch = Batch({TakeOne()}, Action::kFail);
  batch.rows[0].error = &error_;
  EXPECT_EQ(SettleOne(batch).outcome, Action::kFail);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed WHERE attempt = 1"), 1);
  EXPECT_EQ(History(), "3:1:last:Boom:it\nbroke:print");
}

TEST_F(SettleTest, AReleaseGivesTheAttemptBack) {
  PutOne();
  const std::string schedule_time = Sql("SELECT schedule_time FROM skiplane.task");
  const Settled settled = SettleOne(Batch({TakeOne()}, Action::kRelease));
  EXPECT_EQ(settled.outcome, Action::kRelease);
  ASSERT_TRUE(settled.schedule_time.has_value());
  EXPECT_LE(*settled.schedule_time, settled.now);
  EXPECT_EQ(Sql("SELECT schedule_time FROM skiplane.task WHERE attempt = 0 AND state = 1"),
            schedule_time);
  EXPECT_EQ(History(), "");
  EXPECT_EQ(TakeOne().attempt, 1);
}

TEST_F(SettleTest, AReleaseOfTheLastAttemptDoesNotFail) {
  PutOne({}, 1);
  EXPECT_EQ(SettleOne(Batch({TakeOne()}, Action::kRelease)).outcome, Action::kRelease);
  EXPECT_EQ(SettleOne(Batch({TakeOne()}, Action::kAck)).outcome, Action::kAck);
}

TEST_F(SettleTest, AReleaseKeepsTheLastError) {
  PutOne();
  SettleBatch batch = Batch({TakeOne()}, Action::kRetry);
  batch.rows[0].error = &error_;
  SettleOne(batch);
  Settle({TakeOne()}, Action::kRelease);
  EXPECT_EQ(Sql("SELECT error_type || convert_from(error_text, 'UTF8') || error_fingerprint "
                "FROM skiplane.task"),
            "Boomit\nbrokeprint");
}

TEST_F(SettleTest, AllActionsInOneStatement) {
  Put(4, {}, 5);
  const auto tokens = TokensOf(Take(4));
  SettleBatch batch = Batch(tokens);
  batch.rows[1].action = Action::kRetry;
  batch.rows[1].delay = absl::Minutes(10);
  batch.rows[2].action = Action::kFail;
  batch.rows[3].action = Action::kRelease;
  std::vector<Action> outcomes(4);
  for (const Settled& item : Required(store::Settle(*session_, batch))) {
    outcomes[item.index] = item.outcome;
  }
  EXPECT_THAT(outcomes,
              ElementsAre(Action::kAck, Action::kRetry, Action::kFail, Action::kRelease));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 2);
}

TEST_F(SettleTest, HistoryFollowsTheQueuesPolicy) {
  using Policy = model::HistoryPolicy;
  const std::pair<Policy, const char*> cases[] = {
      {Policy::kAll, "1 1 2 3"}, {Policy::kFailures, "2 3"}, {Policy::kNone, ""}};
  for (const auto& [policy, outcomes] : cases) {
    Sql("TRUNCATE skiplane.history; UPDATE skiplane.task "
        "SET schedule_time = now() + interval '1 year'");
    Put(5);
    const auto tokens = TokensOf(Take(5));
    SettleBatch by_id = Batch({tokens[0], tokens[1], tokens[2], tokens[3]}, Action::kAck);
    by_id.settings.history = policy;
    by_id.rows[1].action = Action::kRetry;
    by_id.rows[2].action = Action::kFail;
    by_id.rows[3].action = Action::kRelease;
    ASSERT_THAT(store::Settle(*session_, by_id), IsOk());
    SettleBatch by_location = Batch({tokens[4]});
    by_location.settings.history = policy;
    ASSERT_THAT(AckByLocation(*session_, by_location), IsOk());
    EXPECT_EQ(Sql("SELECT string_agg(outcome::text, ' ' ORDER BY outcome) FROM skiplane.history"),
              outcomes);
  }
}

TEST_F(SettleTest, TheKeyOfAFinishedTaskSaysWhen) {
  for (const char* const key : {"a", "b", "c", "d"}) PutOne(KeyedTask(key));
  const auto tokens = TokensOf(Take(4));
  ASSERT_THAT(AckByLocation(*session_, Batch({tokens[0]})), IsOkAndHolds(ElementsAre(0)));
  EXPECT_EQ(Settle({tokens[1]}, Action::kAck), 1u);
  EXPECT_EQ(Settle({tokens[2]}, Action::kFail), 1u);
  EXPECT_EQ(Settle({tokens[3]}, Action::kRetry), 1u);
  EXPECT_EQ(Sql("SELECT string_agg(key, '' ORDER BY key) FROM skiplane.task_key "
                "WHERE end_time > now() - interval '1 minute'"),
            "abc");
}

TEST_F(SettleTest, LedgerRowsGoWithTheirLastTask) {
  Put(4);
  LeaseDemand demand = Demand({1, 2, 3, 3});
  const auto tokens = TokensOf(Required(Lease(*session_, demand)).rows);
  SettleBatch batch = Batch({tokens[0]});
  batch.ledgers = {demand.callers[0].ledger};
  ASSERT_THAT(AckByLocation(*session_, batch), IsOk());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger"), 2);
  batch = Batch({tokens[1]}, Action::kRetry);
  batch.ledgers = {demand.callers[1].ledger};
  ASSERT_THAT(store::Settle(*session_, batch), IsOk());
  EXPECT_THAT(FindLeases(*session_, lane_, {}, {{demand.callers[2].ledger}}),
              IsOkAndHolds(::testing::SizeIs(2)));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.lease_ledger"), 1);
}

TEST_F(SettleTest, RetryDelaysAreFiveTenAndFifteenMinutes) {
  PutOne();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    SettleBatch batch = Batch({TakeOne()}, Action::kRetry);
    batch.rows[0].delay = model::RetryDelay(model::RetryPolicy(), attempt, 0.0);
    const Settled settled = SettleOne(batch);
    EXPECT_EQ(*settled.schedule_time - settled.now, attempt * absl::Minutes(5));
    LetTimePass();
  }
}

}  // namespace
}  // namespace skiplane::store
