#include "server/store/task_view.h"

#include "gmock/gmock.h"
#include "server/store/sessions.h"
#include "server/store/task_change.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using model::TaskState;
using testing::IsOk;
using testing::kWorker;
using testing::ReasonIs;
using testing::Required;
using testing::TaskIn;

class GetTaskTest : public testing::StoreHarness {
 protected:
  model::TaskView View(int64_t id) { return Required(GetTask(*session_, {lane_, id})); }

  void End(const model::LeaseToken& token, Action action, const model::TaskError* error,
           model::HistoryPolicy history = model::HistoryPolicy::kAll) {
    SettleBatch batch = Batch({token}, action);
    batch.rows[0].error = error;
    batch.settings.history = history;
    Required(store::Settle(*session_, batch));
  }

  // A heartbeat of worker "w".
  void Report(const model::LeaseToken& token, const std::string& progress) {
    const std::string report = absl::StrCat(
        R"({"held": [")", token.task.id, R"("], "progress": {")", token.task.id, R"(": {"lane": )",
        lane_, R"(, "lease": )", token.lease_number, ", ", progress, "}}}");
    Required(RenewSessions(*session_, {{"w", absl::Minutes(1), report}}));
  }

  void ExpectError(const model::TaskView& view, const model::TaskError& error) {
    ASSERT_TRUE(view.last_error.has_value());
    EXPECT_EQ(view.last_error->type, error.type);
    EXPECT_EQ(view.last_error->text, error.text);
    EXPECT_EQ(view.last_error->fingerprint, error.fingerprint);
  }

  const model::TaskError first_{"First", std::string("bytes\0\xff", 7), "print"};
  const model::TaskError second_{"Second", "", ""};
  const model::TaskError none_;
};

TEST_F(GetTaskTest, AnUnknownTaskIsNotFound) {
  const int64_t id = PutOne();
  EXPECT_THAT(GetTask(*session_, {lane_, id + 1}), ReasonIs("TASK_NOT_FOUND"));
  EXPECT_THAT(GetTask(*session_, {lane_ + 1, id}), ReasonIs("TASK_NOT_FOUND"));
}

TEST_F(GetTaskTest, ScheduledThenReady) {
  model::NewTask task = TaskIn(absl::Minutes(5));
  task.key = "k";
  task.priority = -7;
  const int64_t id = PutOne(task, 4);
  const model::TaskView view = View(id);
  EXPECT_EQ(view.id, (model::TaskId{lane_, id}));
  EXPECT_EQ(view.state, TaskState::kScheduled);
  EXPECT_EQ(view.key, "k");
  EXPECT_EQ(view.priority, -7);
  EXPECT_EQ(view.attempt, 0);
  EXPECT_EQ(view.max_attempts, 4);
  EXPECT_EQ(view.schedule_time - view.create_time, absl::Minutes(5));
  EXPECT_FALSE(view.lease_time.has_value());
  EXPECT_FALSE(view.end_time.has_value());
  EXPECT_FALSE(view.last_error.has_value());
  LetTimePass();
  EXPECT_EQ(View(id).state, TaskState::kReady);
}

TEST_F(GetTaskTest, LeasedWithItsWorkerAndProgress) {
  const int64_t id = PutOne();
  Required(TouchSessions(*session_, {{"w", "build-7", kWorker, absl::Minutes(1), {}}}));
  const model::LeaseToken token = TakeOne(kWorker);
  model::TaskView view = View(id);
  EXPECT_EQ(view.state, TaskState::kLeased);
  EXPECT_EQ(view.attempt, 1);
  EXPECT_TRUE(view.lease_time.has_value());
  EXPECT_EQ(view.worker_name, "build-7");
  EXPECT_FALSE(view.progress.has_value());
  EXPECT_FALSE(view.cancel_requested);
  EXPECT_EQ(view.worker_handle, Sql("SELECT worker_handle FROM skiplane.workers"));
  Report(token, R"("fraction": 0.25, "message": "a \"quarter\"")");
  Sql("UPDATE skiplane.task SET cancel_requested = true");
  view = View(id);
  EXPECT_TRUE(view.cancel_requested);
  ASSERT_TRUE(view.progress.has_value());
  EXPECT_EQ(view.progress->fraction, 0.25);
  EXPECT_EQ(view.progress->message, "a \"quarter\"");
}

TEST_F(GetTaskTest, TheProgressOfAnEarlierLeaseIsNotShownWhileItWaits) {
  const int64_t id = PutOne();
  Required(TouchSessions(*session_, {{"w", "build-7", kWorker, absl::Minutes(1), {}}}));
  const model::LeaseToken token = TakeOne(kWorker);
  Report(token, R"("fraction": 0.5)");
  End(token, Action::kRetry, &first_);
  model::TaskView view = View(id);
  EXPECT_EQ(view.state, TaskState::kReady);
  EXPECT_FALSE(view.progress.has_value());
  EXPECT_FALSE(view.lease_time.has_value());
  ExpectError(view, first_);
  EXPECT_EQ(view.last_progress->fraction, 0.5);
  TakeOne(kWorker);
  view = View(id);
  EXPECT_FALSE(view.progress.has_value()) << "the same worker holds it under another lease";
  EXPECT_EQ(view.last_progress->fraction, 0.5);
}

TEST_F(GetTaskTest, SucceededWithTheErrorOfTheAttemptBefore) {
  for (const bool by_location : {true, false}) {
    const int64_t id = PutOne();
    End(TakeOne(), Action::kRetry, &first_);
    const model::LeaseToken token = TakeOne();
    if (by_location) {
      ASSERT_THAT(AckByLocation(*session_, Batch({token})), IsOk());
    } else {
      End(token, Action::kAck, &none_);
    }
    const model::TaskView view = View(id);
    EXPECT_EQ(view.state, TaskState::kSucceeded);
    EXPECT_EQ(view.attempt, 2);
    EXPECT_TRUE(view.end_time.has_value());
    ExpectError(view, first_);
  }
}

TEST_F(GetTaskTest, TheResultOfItsLastAckIsReadWithItsPayloadOnly) {
  const int64_t id = PutOne();
  SettleBatch batch = Batch({TakeOne()}, Action::kAck);
  batch.rows[0].result = "42";
  batch.settings.keep_results = true;
  Required(store::Settle(*session_, batch));
  EXPECT_EQ(View(id).result, "");
  EXPECT_EQ(Required(GetTask(*session_, {lane_, id}, true)).result, "42");
}

TEST_F(GetTaskTest, SucceededAtOnceWithoutAnError) {
  for (const bool by_location : {true, false}) {
    const int64_t id = PutOne();
    const model::LeaseToken token = TakeOne();
    if (by_location) {
      ASSERT_THAT(AckByLocation(*session_, Batch({token})), IsOk());
    } else {
      End(token, Action::kAck, &none_);
    }
    EXPECT_EQ(View(id).state, TaskState::kSucceeded);
    EXPECT_FALSE(View(id).last_error.has_value());
  }
}

TEST_F(GetTaskTest, FailedWithItsLastError) {
  const int64_t id = PutOne({}, 2);
  End(TakeOne(), Action::kRetry, &first_);
  End(TakeOne(), Action::kRetry, &second_);
  const model::TaskView view = View(id);
  EXPECT_EQ(view.state, TaskState::kFailed);
  EXPECT_EQ(view.attempt, 2);
  EXPECT_TRUE(view.end_time.has_value());
  ExpectError(view, second_);
}

TEST_F(GetTaskTest, AFailedTaskIsKnownWithoutHistory) {
  const int64_t id = PutOne();
  End(TakeOne(), Action::kFail, &first_, model::HistoryPolicy::kNone);
  EXPECT_EQ(View(id).state, TaskState::kFailed);
  ExpectError(View(id), first_);
}

TEST_F(GetTaskTest, ADeletedFailedTaskIsNotShownFromItsHistory) {
  const int64_t id = PutOne();
  End(TakeOne(), Action::kFail, &first_);
  model::TaskChange change;
  change.kind = model::TaskChange::Kind::kDelete;
  Required(ChangeTasks(*session_, TaskTable::kFailed, lane_, {id}, change, {}));
  EXPECT_THAT(GetTask(*session_, {lane_, id}), ReasonIs("TASK_NOT_FOUND"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.history"), 1);
}

TEST_F(GetTaskTest, ASucceededTaskIsForgottenWithoutHistory) {
  const int64_t id = PutOne();
  End(TakeOne(), Action::kAck, nullptr, model::HistoryPolicy::kNone);
  EXPECT_THAT(GetTask(*session_, {lane_, id}), ReasonIs("TASK_NOT_FOUND"));
}

}  // namespace
}  // namespace skiplane::store
