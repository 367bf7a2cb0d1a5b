// What reaches the wire, and what comes back from it, field by field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/src/convert_enum.h"
#include "client/src/convert_queue.h"
#include "client/src/convert_task.h"
#include "client/src/convert_time.h"
#include "skiplane/error.h"

namespace skiplane::internal {
namespace {

TEST(ConvertTest, TimesKeepTheirNanosecondsOnBothSidesOfTheEpoch) {
  for (const int64_t nanos : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1'500'000'000}}) {
    google::protobuf::Timestamp time;
    ToProto(absl::FromUnixNanos(nanos), &time);
    EXPECT_GE(time.nanos(), 0);
    EXPECT_EQ(absl::ToUnixNanos(FromProto(time)), nanos);
    google::protobuf::Duration duration;
    ToProto(absl::Nanoseconds(nanos), &duration);
    EXPECT_GE(int64_t{duration.nanos()} * duration.seconds(), 0) << "signs must agree";
    EXPECT_EQ(FromProto(duration), absl::Nanoseconds(nanos));
  }
}

TEST(ConvertTest, StagesAndResultsReachTheWire) {
  const v1::LeaseRequest lease = ToProto(LeaseCall{.queues = {{.name = "q", .stage = "encode"}}});
  EXPECT_EQ(lease.queues(0).stage(), "encode");
  v1::LeaseResponse response;
  response.add_tasks()->set_stage("encode");
  EXPECT_EQ(FromProto(std::move(response)).tasks.front().stage, "encode");
  const auto ack = AckToProto({{.lease_token = "t", .result = "42"}});
  ASSERT_TRUE(ack.ok());
  EXPECT_EQ(ack->items(0).lease_token(), "t");
  EXPECT_EQ(ack->items(0).result(), "42");
}

TEST(ConvertTest, APlainAckSaysNothingMore) {
  const auto ack = AckToProto({{.lease_token = "t"}});
  EXPECT_EQ(ack->items(0).then_case(), v1::AckItem::THEN_NOT_SET);
  EXPECT_FALSE(ack->items(0).has_next_payload());
}

TEST(ConvertTest, EachKeyPolicyIsTold) {
  const auto told = [](KeyPolicy policy) {
    return ToProto(EnqueueCall{.tasks = {{.key_policy = policy}}})->tasks(0).key_policy();
  };
  EXPECT_EQ(told(KeyPolicy::kKeep), v1::KEY_POLICY_UNSPECIFIED);
  EXPECT_EQ(told(KeyPolicy::kKeepUnfinished), v1::KEY_POLICY_KEEP_UNFINISHED);
  EXPECT_EQ(told(KeyPolicy::kRerunIfNewer), v1::KEY_POLICY_RERUN_IF_NEWER);
  EXPECT_EQ(told(KeyPolicy::kReplaceWaiting), v1::KEY_POLICY_REPLACE_WAITING);
  EXPECT_EQ(told(KeyPolicy::kReject), v1::KEY_POLICY_REJECT);
  EXPECT_EQ(told(KeyPolicy::kSchedule), v1::KEY_POLICY_SCHEDULE);
}

TEST(ConvertTest, ATaskThatNoMessageCanSayIsRefusedByName) {
  const NewTask twice{.period = absl::Hours(1), .cron = "@daily"};
  EXPECT_THAT(std::string(ToProto(EnqueueCall{.tasks = {{}, twice}}).status().message()),
              testing::StartsWith("tasks[1] has both a period"));
  EXPECT_THAT(std::string(AckToProto({{.more = {.follow_ups = {twice}}}})
                              .status().message()),
              testing::StartsWith("items[0].follow_ups[0] has both"));
}

TEST(ConvertTest, ATaskReachesTheWireWithAllItsFields) {
  const auto request = ToProto(EnqueueCall{.queue = "q",
                                           .tasks = {{.payload = std::string("a\0b", 3),
                                                      .content_type = "c",
                                                      .headers = {{"h", "v"}},
                                                      .priority = -7,
                                                      .delay = absl::Milliseconds(1500),
                                                      .max_attempts = 3,
                                                      .key = "k",
                                                      .version = 9,
                                                      .queue = "own"}},
                                           .request_id = "r"});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->queue(), "q");
  EXPECT_EQ(request->request_id(), "r");
  const v1::NewTask& task = request->tasks(0);
  EXPECT_EQ(task.payload(), std::string("a\0b", 3));
  EXPECT_EQ(task.content_type(), "c");
  EXPECT_EQ(task.headers().at("h"), "v");
  EXPECT_EQ(task.priority(), -7);
  EXPECT_EQ(task.delay().seconds(), 1);
  EXPECT_EQ(task.delay().nanos(), 500'000'000);
  EXPECT_EQ(task.max_attempts(), 3);
  EXPECT_EQ(task.key(), "k");
  EXPECT_EQ(task.version(), 9);
  EXPECT_EQ(task.queue(), "own");
}

TEST(ConvertTest, ATaskWithoutAStartStartsAtOnce) {
  const auto request = ToProto(EnqueueCall{.queue = "q", .tasks = {{}}});
  EXPECT_EQ(request->tasks(0).start_case(), v1::NewTask::START_NOT_SET);
  EXPECT_FALSE(request->tasks(0).has_max_attempts());
  EXPECT_FALSE(request->tasks(0).has_version());
}

TEST(ConvertTest, EachOutcomeIsTold) {
  v1::AckResponse response;
  for (const auto outcome : {v1::SETTLE_OUTCOME_SETTLED, v1::SETTLE_OUTCOME_ALREADY_SETTLED,
                             v1::SETTLE_OUTCOME_LEASE_LOST, v1::SETTLE_OUTCOME_NOT_FOUND,
                             v1::SETTLE_OUTCOME_REFUSED}) {
    response.add_results()->set_outcome(outcome);
  }
  std::vector<SettleOutcome> outcomes;
  for (const SettleResult& result : FromProto(response)) outcomes.push_back(result.outcome);
  EXPECT_THAT(outcomes,
              testing::ElementsAre(SettleOutcome::kSettled, SettleOutcome::kAlreadySettled,
                                   SettleOutcome::kLeaseLost, SettleOutcome::kNotFound,
                                   SettleOutcome::kRefused));
}

TEST(ConvertTest, ARefusedItemTellsWhyAsARefusedCallDoes) {
  v1::AckResponse response;
  v1::Refusal* const refusal = response.add_results()->mutable_refusal();
  refusal->set_reason("QUEUE_NOT_FOUND");
  refusal->set_field("follow_ups[1].queue");
  refusal->set_message("no queue is named so");
  const absl::Status told = FromProto(response).front().refusal;
  EXPECT_EQ(told.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(told.message(), "no queue is named so");
  EXPECT_EQ(ErrorReason(told), "QUEUE_NOT_FOUND");
  EXPECT_EQ(ErrorField(told), "follow_ups[1].queue");
  v1::NackResponse nacked;
  nacked.add_results()->mutable_refusal()->set_reason("INVALID_FIELD");
  EXPECT_EQ(FromProto(nacked).front().refusal.code(), absl::StatusCode::kInvalidArgument);
}

TEST(ConvertTest, ANackTellsWhatTheTaskIsNow) {
  for (const auto& [wire, state] : {std::pair{v1::TASK_STATE_SCHEDULED, TaskState::kScheduled},
                                    std::pair{v1::TASK_STATE_READY, TaskState::kReady},
                                    std::pair{v1::TASK_STATE_FAILED, TaskState::kFailed},
                                    std::pair{v1::TASK_STATE_CANCELLED, TaskState::kCancelled}}) {
    v1::NackResponse response;
    response.add_results()->set_state(wire);
    EXPECT_EQ(FromProto(response).front().state, state);
  }
}

TEST(ConvertTest, AReleaseCarriesNeitherErrorNorDelay) {
  const v1::NackRequest request =
      NackToProto({{.lease_token = "t", .disposition = Disposition::kRelease}});
  EXPECT_EQ(request.items(0).disposition(), v1::NACK_DISPOSITION_RELEASE);
  EXPECT_FALSE(request.items(0).has_error());
  EXPECT_FALSE(request.items(0).has_retry_delay());
}

TEST(ConvertTest, ItemsOfASettleKeepTheirOrderAndTheirKind) {
  const auto request = SettleToProto({NackItem{.lease_token = "a"},
                                      AckItem{.lease_token = "b", .more = {.next_stage = "s"}}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->items(0).nack().lease_token(), "a");
  EXPECT_EQ(request->items(1).ack().next_stage(), "s");
  const auto both = AckItem{.more = {.next_stage = "s", .finish = true}};
  EXPECT_EQ(SettleToProto({both}).status().message(),
            "items[0].ack has both a next_stage and finish");
}

TEST(ConvertTest, AResultTellsAllThatBecameOfTheTask) {
  v1::SettleResponse response;
  v1::SettleResult* const wire = response.add_results();
  wire->set_state(v1::TASK_STATE_READY);
  wire->set_stage("encode");
  wire->mutable_schedule_time()->set_seconds(1800000000);
  wire->add_follow_ups()->set_task_id("t");
  const SettleResult result = FromProto(response).front();
  EXPECT_EQ(result.state, TaskState::kReady);
  EXPECT_EQ(result.stage, "encode");
  EXPECT_EQ(result.schedule_time, absl::FromUnixSeconds(1800000000));
  ASSERT_EQ(result.follow_ups.size(), 1u);
  EXPECT_EQ(result.follow_ups[0].task_id, "t");
}

TEST(ConvertTest, HeartbeatAnswersKeepTheirOrder) {
  v1::HeartbeatResponse response;
  response.add_results()->set_state(v1::LEASE_STATE_HELD);
  response.add_results()->set_state(v1::LEASE_STATE_LOST);
  response.add_results()->set_state(v1::LEASE_STATE_CANCEL_REQUESTED);
  response.set_session_alive(true);
  response.mutable_lease_remaining()->set_seconds(9);
  const HeartbeatAnswer answer = FromProto(response);
  EXPECT_THAT(answer.states, testing::ElementsAre(LeaseState::kHeld, LeaseState::kLost,
                                                  LeaseState::kCancelRequested));
  EXPECT_TRUE(answer.session_alive);
  EXPECT_EQ(answer.lease_remaining, absl::Seconds(9));
}

TEST(ConvertTest, CommandsAreTakenAndABrokerThatKnowsNoneHasItsWorkersRun) {
  for (const auto& [wire, command] :
       {std::pair{v1::WORKER_COMMAND_UNSPECIFIED, WorkerCommand::kRun},
        std::pair{v1::WORKER_COMMAND_RUN, WorkerCommand::kRun},
        std::pair{v1::WORKER_COMMAND_QUIET, WorkerCommand::kQuiet},
        std::pair{v1::WORKER_COMMAND_STOP, WorkerCommand::kStop}}) {
    v1::HeartbeatResponse heartbeat;
    heartbeat.set_command(wire);
    EXPECT_EQ(FromProto(heartbeat).command, command);
    v1::LeaseResponse lease;
    lease.set_command(wire);
    EXPECT_EQ(FromProto(lease).command, command);
  }
}

TEST(ConvertTest, EachKindOfRetryAndHistoryReturnsAsItWent) {
  for (const RetryKind kind :
       {RetryKind::kLinear, RetryKind::kFixed, RetryKind::kExponential, RetryKind::kTable}) {
    EXPECT_EQ(FromProto(ToProto(kind)), kind);
  }
  for (const HistoryPolicy policy :
       {HistoryPolicy::kAll, HistoryPolicy::kFailures, HistoryPolicy::kNone}) {
    EXPECT_EQ(FromProto(ToProto(policy)), policy);
  }
  for (const Packing packing : {Packing::kOff, Packing::kAutomatic}) {
    EXPECT_EQ(FromProto(ToProto(packing)), packing);
  }
  EXPECT_EQ(ToProto(RetryKind::kLinear), v1::RETRY_KIND_LINEAR);
  EXPECT_EQ(ToProto(RetryKind::kFixed), v1::RETRY_KIND_FIXED);
  EXPECT_EQ(ToProto(HistoryPolicy::kAll), v1::HISTORY_POLICY_ALL);
}

TEST(ConvertTest, AValueOfALaterVersionIsNoneOfOurs) {
  EXPECT_EQ(FromProto(static_cast<v1::TaskState>(99)), TaskState::kUnknown);
  EXPECT_EQ(FromProto(static_cast<v1::SettleOutcome>(99)), SettleOutcome::kNotFound);
  EXPECT_EQ(FromProto(static_cast<v1::LeaseState>(99)), LeaseState::kHeld);
}

TEST(ConvertTest, QueueSettingsReturnAsTheyWent) {
  const QueueSettings settings{.retry = {.kind = RetryKind::kTable,
                                         .base_delay = absl::Seconds(2),
                                         .max_delay = absl::Hours(1),
                                         .delays = {absl::Seconds(1), absl::Minutes(2)},
                                         .jitter = 0.1,
                                         .max_attempts = 4},
                               .history = HistoryPolicy::kFailures,
                               .lease_duration = absl::Seconds(5),
                               .max_payload_bytes = 1000,
                               .packing = Packing::kOff,
                               .max_depth = 7,
                               .max_enqueue_rate = 0.5};
  v1::Queue proto;
  proto.set_name("q");
  ToProto(settings, proto.mutable_settings());
  proto.set_pause_mode(v1::PAUSE_MODE_BOTH);
  proto.set_lane_count(3);
  proto.mutable_counts()->set_leased_count(3);
  const Queue queue = FromProto(proto);
  EXPECT_EQ(queue.name, "q");
  EXPECT_EQ(queue.settings.retry.kind, RetryKind::kTable);
  EXPECT_EQ(queue.settings.retry.base_delay, absl::Seconds(2));
  EXPECT_EQ(queue.settings.retry.max_delay, absl::Hours(1));
  EXPECT_EQ(queue.settings.retry.delays, settings.retry.delays);
  EXPECT_EQ(queue.settings.retry.jitter, 0.1);
  EXPECT_EQ(queue.settings.retry.max_attempts, 4);
  EXPECT_EQ(queue.settings.history, HistoryPolicy::kFailures);
  EXPECT_EQ(queue.settings.lease_duration, absl::Seconds(5));
  EXPECT_EQ(queue.settings.max_payload_bytes, 1000);
  EXPECT_EQ(queue.settings.packing, Packing::kOff);
  EXPECT_EQ(queue.settings.max_depth, 7);
  EXPECT_EQ(queue.settings.max_bytes, std::nullopt);
  EXPECT_EQ(queue.settings.max_enqueue_rate, 0.5);
  EXPECT_EQ(queue.pause_mode, PauseMode::kBoth);
  EXPECT_EQ(queue.lane_count, 3);
  EXPECT_EQ(queue.counts.leased, 3);
}

TEST(ConvertTest, ATasksOptionalPartsAreUnsetUntilTold) {
  v1::Task proto;
  proto.set_state(v1::TASK_STATE_SCHEDULED);
  EXPECT_FALSE(FromProto(proto).last_error.has_value());
  EXPECT_FALSE(FromProto(proto).end_time.has_value());
  proto.mutable_last_error()->set_type("T");
  proto.mutable_end_time()->set_seconds(5);
  const Task task = FromProto(proto);
  EXPECT_EQ(task.state, TaskState::kScheduled);
  EXPECT_EQ(task.last_error->type, "T");
  EXPECT_EQ(task.end_time, absl::FromUnixSeconds(5));
  EXPECT_FALSE(task.last_progress.has_value());
  EXPECT_FALSE(task.cancel_requested);
}

TEST(ConvertTest, WhatEarlierAttemptsLeftIsInTheTaskAndInItsLease) {
  v1::Task proto;
  proto.set_attempt_count(2);
  proto.set_worker_handle("0123456789abcdef");
  proto.set_cancel_requested(true);
  proto.mutable_last_progress()->set_message("page 40");
  const Task task = FromProto(proto);
  EXPECT_EQ(task.attempt_count, 2);
  EXPECT_EQ(task.worker_handle, "0123456789abcdef");
  EXPECT_TRUE(task.cancel_requested);
  EXPECT_EQ(task.last_progress->message, "page 40");

  v1::LeaseResponse response;
  response.add_tasks();
  v1::LeasedTask* const again = response.add_tasks();
  again->mutable_last_error()->set_type("IOError");
  again->mutable_last_error()->set_text("disk \xff");
  again->mutable_last_progress()->set_fraction(0.4);
  const LeaseAnswer answer = FromProto(std::move(response));
  EXPECT_FALSE(answer.tasks[0].last_error.has_value());
  EXPECT_FALSE(answer.tasks[0].last_progress.has_value());
  EXPECT_EQ(answer.tasks[1].last_error->type, "IOError");
  EXPECT_EQ(answer.tasks[1].last_error->text, "disk \xff");
  EXPECT_EQ(answer.tasks[1].last_progress->fraction, 0.4);
}

}  // namespace
}  // namespace skiplane::internal
