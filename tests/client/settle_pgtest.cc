// What an ack says beside that the attempt succeeded, and settings of queues, on a real broker.
#include "skiplane/error.h"
#include "tests/client/broker_fixture.h"

namespace skiplane {
namespace {

class AckOnBroker : public BrokerTest {
 protected:
  AckOnBroker() { MakeQueue("line", Stages({"a", "b", "c"})); }

  std::string KeptResult() { return database_.Run("SELECT encode(result, 'escape')"
                                                  " FROM skiplane.history"); }
};

TEST_F(AckOnBroker, ATaskGoesToTheNextStageByItself) {
  Put("line", {.payload = "as it was"});
  Ack(Take("line"));
  const LeasedTask task = Take("line");
  EXPECT_EQ(task.stage, "b");
  EXPECT_EQ(task.payload, "as it was");
}

TEST_F(AckOnBroker, ATaskGoesToTheStageThatIsNamedWithItsNewPayload) {
  Put("line", {.payload = "old", .headers = {{"h", "1"}}});
  Ack(Take("line"), {.next_stage = "c",
                     .next_payload = NextPayload{.payload = "new",
                                                 .content_type = "text/plain",
                                                 .headers = {{"h", "2"}}}});
  const LeasedTask task = Take("line", "c");
  EXPECT_EQ(task.payload, "new");
  EXPECT_EQ(task.content_type, "text/plain");
  EXPECT_EQ(task.headers.at("h"), "2");
}

TEST_F(AckOnBroker, FinishLeavesTheOtherStagesOut) {
  const std::string id = Put("line", {}).task_id;
  Ack(Take("line"), {.finish = true});
  EXPECT_EQ(View(id).state, TaskState::kSucceeded);
}

TEST_F(AckOnBroker, TheResultIsKept) {
  Put("line", {});
  Ack(Take("line"), {.finish = true}, "42");
  EXPECT_EQ(KeptResult(), "42");
}

TEST_F(AckOnBroker, OneCallAcksAndLeasesTheNextTask) {
  MakeQueue("plain");
  for (int i = 0; i < 3; ++i) Put("plain", {});
  const LeasedTask first = Take("plain");
  const auto answer = client().SettleAndLease({AckItem{.lease_token = first.lease_token}},
                                              {.queues = {{.name = "plain"}}, .max_tasks = 2});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->results.size(), 1u);
  EXPECT_EQ(answer->results[0].outcome, SettleOutcome::kSettled);
  ASSERT_TRUE(answer->lease.has_value());
  EXPECT_EQ(answer->lease->tasks.size(), 2u);
  const auto refused =
      client().SettleAndLease({AckItem{.lease_token = answer->lease->tasks[0].lease_token}}, {});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(View(answer->lease->tasks[0].task_id).state, TaskState::kLeased);
}

TEST_F(AckOnBroker, OneCallEndsEachAttemptInItsOwnWay) {
  MakeQueue("plain");
  for (int i = 0; i < 3; ++i) Put("plain", {});
  const LeasedTask done = Take("plain");
  const LeasedTask failed = Take("plain");
  const LeasedTask released = Take("plain");
  const auto results = client().Settle(
      {NackItem{.lease_token = failed.lease_token, .disposition = Disposition::kFail},
       AckItem{.lease_token = done.lease_token},
       NackItem{.lease_token = released.lease_token, .disposition = Disposition::kRelease}});
  ASSERT_TRUE(results.ok()) << results.status();
  std::vector<TaskState> states;
  for (const SettleResult& result : *results) states.push_back(result.state);
  EXPECT_EQ(states, (std::vector{TaskState::kFailed, TaskState::kSucceeded, TaskState::kReady}));
}

TEST_F(AckOnBroker, FollowUpsAreMadeWithTheAck) {
  MakeQueue("next");
  Put("line", {});
  Ack(Take("line"),
      {.finish = true,
       .follow_ups = {{.payload = "one", .priority = 7, .queue = "next"},
                      {.payload = "two", .key = "k", .version = 5, .queue = "next"}}});
  const LeasedTask second = Take("next");
  EXPECT_EQ(second.key, "k");
  EXPECT_EQ(second.version, 5);
  EXPECT_EQ(Take("next").priority, 7);
}

TEST_F(AckOnBroker, ALeaseHandleSaysAllThatToo) {
  Put("line", {});
  auto lease = client().LeaseOne("line", absl::Seconds(60));
  ASSERT_TRUE(lease.ok() && lease->has_value());
  const auto outcome = std::move(**lease).Ack("43", {.next_stage = "b"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(KeptResult(), "43");
  EXPECT_EQ(Take("line").stage, "b");
}

TEST_F(AckOnBroker, WhatCannotBeIsRefusedAndSettlesNothing) {
  Put("line", {});
  const LeasedTask task = Take("line");
  const auto refusal = [&](AckMore more) {
    const auto results =
        client().Ack({AckItem{.lease_token = task.lease_token, .more = std::move(more)}});
    if (!results.ok()) return results.status();
    EXPECT_EQ(results->front().outcome, SettleOutcome::kRefused);
    return results->front().refusal;
  };
  EXPECT_EQ(ErrorField(refusal({.next_stage = "none"})), "next_stage");
  const absl::Status missing = refusal({.follow_ups = {{.queue = "missing"}}});
  EXPECT_EQ(ErrorReason(missing), "QUEUE_NOT_FOUND");
  EXPECT_EQ(ErrorField(missing), "follow_ups[0].queue");
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrorField(refusal({.follow_ups = {{.version = 1, .queue = "line"}}})),
            "follow_ups[0].version");
  EXPECT_EQ(refusal({.next_stage = "b", .finish = true}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(View(task.task_id).state, TaskState::kLeased);
}

TEST_F(AckOnBroker, AHandleWhoseAckIsRefusedSettlesItMended) {
  Put("line", {});
  auto lease = client().LeaseOne("line", absl::Seconds(60));
  ASSERT_TRUE(lease.ok() && lease->has_value());
  EXPECT_EQ(ErrorField(std::move(**lease).Ack("", {.next_stage = "none"}).status()), "next_stage");
  const auto outcome = std::move(**lease).Ack("", {.next_stage = "c"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(Take("line").stage, "c");
}

TEST_F(AckOnBroker, SettingsOfAQueueReturnAsTheyWent) {
  const QueueSettings settings{
      .periodic_history = HistoryPolicy::kAll,
      .stages = {{.name = "s",
                  .retry = RetryPolicy{.max_attempts = 2},
                  .lease_duration = absl::Minutes(2),
                  .max_run_duration = absl::Minutes(3)}},
      .max_run_duration = absl::Minutes(4),
      .history_days = 5,
      .failed_days = 6,
      .keep_payloads = true,
      .keep_results = true};
  MakeQueue("full", settings);
  const auto queue = client().GetQueue("full");
  ASSERT_TRUE(queue.ok()) << queue.status();
  ASSERT_EQ(queue->settings.stages.size(), 1u);
  EXPECT_EQ(queue->settings.stages[0].retry->max_attempts, 2);
  EXPECT_EQ(queue->settings.stages[0].max_run_duration, absl::Minutes(3));
  // Reading and writing back must lose nothing: making the queue again compares all of them.
  ASSERT_TRUE(client().UpdateQueue("full", queue->settings).ok());
  EXPECT_TRUE(client().CreateQueue("full", settings).ok());
  QueueSettings defaults;
  defaults.stages = settings.stages;
  ASSERT_TRUE(client().UpdateQueue("full", defaults).ok());
  EXPECT_TRUE(client().CreateQueue("full", defaults).ok()) << "what is unset is taken as well";
}

}  // namespace
}  // namespace skiplane
