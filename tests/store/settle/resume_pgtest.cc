// What an attempt leaves to the next one: the error of the last that failed, and the progress that
// the last one to report any reported.
#include "gmock/gmock.h"
#include "server/store/sessions.h"
#include "server/store/task_change.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using testing::kOtherWorker;
using testing::kWorker;
using testing::Required;

class ResumeTest : public testing::StoreHarness {
 protected:
  ResumeTest() {
    Required(TouchSessions(*session_, {{"w", "", kWorker, absl::Minutes(1), {}}}));
  }

  model::LeasedTask TakeTask(const pg::Uuid& worker = kWorker) {
    LetTimePass();
    const std::vector<LeasedRow> rows = Take(1, worker);
    testing::Require(rows.size() == 1, "nothing to lease");
    return rows.front().task;
  }

  model::LeaseToken TakeAndReport(const std::string& message) {
    const model::LeaseToken token = TakeTask().token;
    const std::string report = absl::StrCat(
        R"({"held": [")", token.task.id, R"("], "progress": {")", token.task.id, R"(": {"lane": )",
        lane_, R"(, "lease": )", token.lease_number, R"(, "fraction": 0.5, "message": ")", message,
        R"("}}})");
    Required(RenewSessions(*session_, {{"w", absl::Minutes(1), report}}));
    return token;
  }

  void End(const model::LeaseToken& token, Action action, const model::TaskError* error = nullptr,
           std::optional<int16_t> next_stage = std::nullopt) {
    SettleBatch batch = Batch({token}, action);
    batch.rows[0].error = error;
    batch.rows[0].next_stage = next_stage;
    testing::Require(Required(store::Settle(*session_, batch)).size() == 1, "not settled");
  }

  // "Boom: half" of an error's type and a progress' message; "-" for none.
  std::string Carried(const model::LeasedTask& task) {
    return absl::StrCat(task.last_error ? task.last_error->type : "-", ": ",
                        task.last_progress ? task.last_progress->message : "-");
  }

  const model::TaskError error_{"Boom", "it broke", "print"};
};

TEST_F(ResumeTest, EveryEndThatIsNoSuccessLeavesTheProgress) {
  PutOne();
  const model::LeasedTask first = TakeTask();
  EXPECT_EQ(Carried(first), "-: -");
  End(first.token, Action::kRelease);
  const std::vector<std::pair<Action, std::string>> ends = {
      {Action::kRetry, "retried"}, {Action::kLost, "lost"}, {Action::kHang, "hanged"}};
  for (const auto& [action, message] : ends) {
    End(TakeAndReport(message), action, &error_);
    const model::LeasedTask task = TakeTask(kOtherWorker);
    EXPECT_EQ(Carried(task), "Boom: " + message);
    EXPECT_EQ(task.last_error->text, error_.text);
    EXPECT_EQ(task.last_error->fingerprint, error_.fingerprint);
    EXPECT_EQ(task.last_progress->fraction, 0.5);
    End(task.token, Action::kRelease);
  }
  End(TakeAndReport("released"), Action::kRelease);
  EXPECT_EQ(Carried(TakeTask()), "Boom: released");
}

TEST_F(ResumeTest, EachTaskOfASessionGetsItsOwn) {
  Put(3);
  std::vector<model::LeaseToken> tokens = {TakeAndReport("one"), TakeAndReport("two"),
                                           TakeTask().token};
  EXPECT_EQ(Settle(tokens, Action::kRelease), 3u);
  EXPECT_EQ(Sql("SELECT string_agg(coalesce(last_progress ->> 'message', '-'), ' ' ORDER BY id) "
                "FROM skiplane.task"),
            "one two -");
  EXPECT_EQ(Sql("SELECT last_progress FROM skiplane.task ORDER BY id LIMIT 1"),
            R"({"message": "one", "fraction": 0.5})");
}

TEST_F(ResumeTest, AStageThatSucceededLeavesNothing) {
  PutOne();
  End(TakeAndReport("first stage"), Action::kRetry, &error_);
  End(TakeAndReport("first stage"), Action::kAck, nullptr, 0);
  model::LeasedTask task = TakeTask();
  EXPECT_EQ(Carried(task), "-: -");
  End(task.token, Action::kRetry, &error_);
  EXPECT_EQ(Carried(TakeTask()), "Boom: -") << "the session still knows of the lease before";
}

TEST_F(ResumeTest, ARunThatFailedLeavesNothingToTheNext) {
  PutOne();
  Sql("UPDATE skiplane.task SET period = 3600000000, planned_time = schedule_time");
  End(TakeAndReport("half"), Action::kRetry, &error_);
  model::LeasedTask task = TakeTask();
  EXPECT_EQ(Carried(task), "Boom: half");
  End(task.token, Action::kFail, &error_);
  EXPECT_EQ(Sql("SELECT concat(error_type, ' ', last_progress IS NULL) FROM skiplane.task"),
            "Boom t");
  task = TakeTask();
  EXPECT_EQ(Carried(task), "-: -");
  End(task.token, Action::kRelease);
  task = TakeTask();
  EXPECT_EQ(Carried(task), "-: -");
  End(task.token, Action::kRetry, &error_);
  EXPECT_EQ(Carried(TakeTask()), "Boom: -");
}

TEST_F(ResumeTest, AFailedTaskThatIsStartedAgainHasBoth) {
  const int64_t id = PutOne();
  End(TakeAndReport("half"), Action::kFail, &error_);
  model::TaskChange retry;
  retry.kind = model::TaskChange::Kind::kRetry;
  Required(ChangeTasks(*session_, TaskTable::kFailed, lane_, {id}, retry, {}));
  const model::LeasedTask task = TakeTask();
  EXPECT_EQ(Carried(task), "Boom: half");
  EXPECT_EQ(task.last_error->text, error_.text);
  EXPECT_EQ(task.last_error->fingerprint, "") << "no error group counts it";
}

TEST_F(ResumeTest, ErrorsAreCutAndCountInTheBytesOfALease) {
  Put(3);
  Sql("UPDATE skiplane.task SET attempt = 1, error_type = 'E', error_text = "
      "convert_to(repeat('x', 65536), 'UTF8'), last_progress = '{\"fraction\": 1}'");
  LeaseDemand demand = Demand({1, 1, 1});
  demand.callers[0].max_bytes = 9000;
  const std::vector<LeasedRow> rows = Required(store::Lease(*session_, demand)).rows;
  ASSERT_EQ(rows.size(), 2u);
  for (const LeasedRow& row : rows) EXPECT_EQ(row.task.last_error->text, std::string(4096, 'x'));
}

}  // namespace
}  // namespace skiplane::store
