#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "tests/rpc/background_lease.h"

namespace skiplane::rpc {
namespace {

using ::testing::HasSubstr;

TEST(Reply, EnqueueTellsIdsAndOutcomesInOrder) {
  Front front;
  v1::EnqueueRequest request;
  request.set_queue("mail");
  request.set_request_id("once");
  request.add_tasks()->set_key("a");
  request.add_tasks()->mutable_schedule_time()->set_seconds(1700000000);
  v1::EnqueueResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  ASSERT_EQ(response.results_size(), 2);
  EXPECT_EQ(response.results(0).task_id(), model::FormatTaskId({7, 1}));
  EXPECT_EQ(response.results(0).outcome(), v1::ENQUEUE_OUTCOME_CREATED);
  EXPECT_EQ(response.results(1).outcome(), v1::ENQUEUE_OUTCOME_EXISTING);
  EXPECT_EQ(front.broker.enqueue.request_id, "once");
  EXPECT_EQ(front.broker.enqueue.tasks[0].key, "a");
  EXPECT_EQ(front.broker.enqueue.tasks[1].schedule_time, absl::FromUnixSeconds(1700000000));
}

TEST(Reply, LeaseTellsEverythingAboutATask) {
  Front front;
  BackgroundLease lease(front, WaitingLease());
  ASSERT_TRUE(front.broker.WaitForParked(1));
  broker::LeaseAnswer answer = SomeTasks(1);
  model::LeasedTask& task = answer.tasks[0];
  task.headers = {{"a", "1"}, {"b", "2"}};
  task.content_type = "text/plain";
  task.key = "k";
  task.priority = -3;
  task.token.attempt = 2;
  task.max_attempts = 10;
  task.last_error = model::TaskError{"IOError", "disk \xff", "disk"};
  task.last_progress = model::TaskProgress{0.4, "page 40"};
  answer.paused_queues = {"media"};
  front.broker.AnswerParked(answer);
  ASSERT_TRUE(lease.Wait().ok());
  ASSERT_EQ(lease.response.tasks_size(), 1);
  const v1::LeasedTask& got = lease.response.tasks(0);
  EXPECT_EQ(got.task_id(), model::FormatTaskId(task.token.task));
  EXPECT_EQ(Opened(got.lease_token()), model::EncodeLeaseToken(task.token));
  EXPECT_LE(got.lease_token().size(), 128U);
  EXPECT_EQ(got.queue(), "mail");
  EXPECT_EQ(got.payload(), "payload 1");
  EXPECT_EQ(got.content_type(), "text/plain");
  EXPECT_EQ(got.headers().at("b"), "2");
  EXPECT_EQ(got.key(), "k");
  EXPECT_EQ(got.priority(), -3);
  EXPECT_EQ(got.attempt(), 2);
  EXPECT_EQ(got.max_attempts(), 10);
  EXPECT_EQ(got.create_time().seconds(), 1700000000);
  EXPECT_EQ(got.schedule_time().seconds(), 1700000001);
  EXPECT_EQ(got.last_error().type(), "IOError");
  EXPECT_EQ(got.last_error().text(), "disk \xff");
  EXPECT_EQ(got.last_error().fingerprint(), "disk");
  EXPECT_EQ(got.last_progress().fraction(), 0.4);
  EXPECT_EQ(got.last_progress().message(), "page 40");
  EXPECT_EQ(lease.response.lease_remaining().seconds(), 30);
  EXPECT_THAT(lease.response.paused_queues(), ::testing::ElementsAre("media"));
}

TEST(Reply, LeaseTellsOfNoAttemptBeforeTheFirst) {
  Front front;
  BackgroundLease lease(front, WaitingLease());
  ASSERT_TRUE(front.broker.WaitForParked(1));
  front.broker.AnswerParked(SomeTasks(1));
  ASSERT_TRUE(lease.Wait().ok());
  ASSERT_EQ(lease.response.tasks_size(), 1);
  EXPECT_FALSE(lease.response.tasks(0).has_last_error());
  EXPECT_FALSE(lease.response.tasks(0).has_last_progress());
}

TEST(Reply, AckTellsEachOutcomeAndCountsLostLeases) {
  FakeBroker::Behaviour behaviour;
  behaviour.settled.resize(4);
  behaviour.settled[0].outcome = model::SettleOutcome::kSettled;
  behaviour.settled[1].outcome = model::SettleOutcome::kAlreadySettled;
  behaviour.settled[2].outcome = model::SettleOutcome::kLeaseLost;
  behaviour.settled[3].outcome = model::SettleOutcome::kNotFound;
  Front front(behaviour);
  v1::AckRequest request;
  for (int i = 0; i < 4; ++i) request.add_items()->set_lease_token(SealedToken());
  v1::AckResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  ASSERT_EQ(response.results_size(), 4);
  EXPECT_EQ(response.results(0).outcome(), v1::SETTLE_OUTCOME_SETTLED);
  EXPECT_EQ(response.results(1).outcome(), v1::SETTLE_OUTCOME_ALREADY_SETTLED);
  EXPECT_EQ(response.results(2).outcome(), v1::SETTLE_OUTCOME_LEASE_LOST);
  EXPECT_EQ(response.results(3).outcome(), v1::SETTLE_OUTCOME_NOT_FOUND);
  const auto& last = std::get<model::AckItem>(front.broker.settle.at(3));
  EXPECT_EQ(model::EncodeLeaseToken(last.token), GoodToken());
  EXPECT_THAT(front.metrics.Text(), HasSubstr("call=\"ack\"} 1"));
}

TEST(Reply, NackTellsStateAndNextTimeOfWhatItSettled) {
  FakeBroker::Behaviour behaviour;
  behaviour.settled.resize(3);
  behaviour.settled[0].outcome = model::SettleOutcome::kSettled;
  behaviour.settled[0].state = model::TaskState::kScheduled;
  behaviour.settled[0].schedule_time = absl::FromUnixSeconds(1800000000);
  behaviour.settled[1].outcome = model::SettleOutcome::kSettled;
  behaviour.settled[1].state = model::TaskState::kFailed;
  behaviour.settled[2].outcome = model::SettleOutcome::kLeaseLost;
  Front front(behaviour);
  v1::NackRequest request;
  for (int i = 0; i < 3; ++i) request.add_items()->set_lease_token(SealedToken());
  request.mutable_items(0)->mutable_retry_delay()->set_seconds(0);
  request.mutable_items(0)->mutable_error()->set_text(std::string("\xff\0", 2));
  request.mutable_items(1)->set_disposition(v1::NACK_DISPOSITION_FAIL);
  request.mutable_items(2)->set_disposition(v1::NACK_DISPOSITION_RELEASE);
  request.mutable_items(2)->mutable_error()->set_type("ignored");
  v1::NackResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  EXPECT_EQ(response.results(0).outcome(), v1::SETTLE_OUTCOME_SETTLED);
  EXPECT_EQ(response.results(0).state(), v1::TASK_STATE_SCHEDULED);
  EXPECT_EQ(response.results(0).schedule_time().seconds(), 1800000000);
  EXPECT_EQ(response.results(1).state(), v1::TASK_STATE_FAILED);
  EXPECT_FALSE(response.results(1).has_schedule_time());
  EXPECT_EQ(response.results(2).outcome(), v1::SETTLE_OUTCOME_LEASE_LOST);
  EXPECT_EQ(response.results(2).state(), v1::TASK_STATE_UNSPECIFIED);
  std::vector<model::NackItem> seen;
  for (const model::SettleItem& item : front.broker.settle) {
    seen.push_back(std::get<model::NackItem>(item));
  }
  EXPECT_EQ(seen[0].retry_delay, absl::ZeroDuration());
  EXPECT_EQ(seen[0].error.text, std::string("\xff\0", 2));
  EXPECT_EQ(seen[1].disposition, model::NackDisposition::kFail);
  EXPECT_EQ(seen[1].retry_delay, std::nullopt);
  EXPECT_EQ(seen[2].disposition, model::NackDisposition::kRelease);
  EXPECT_EQ(seen[2].error.type, "");
  EXPECT_THAT(front.metrics.Text(), HasSubstr("call=\"nack\"} 1"));
}

TEST(Reply, SettleTellsEachOutcomeAndNamesFieldsOfItsItems) {
  FakeBroker::Behaviour behaviour;
  behaviour.settled.resize(3);
  behaviour.settled[0].outcome = model::SettleOutcome::kRefused;
  behaviour.settled[0].refusal = base::InvalidField("next_stage", "is not a stage");
  behaviour.settled[1].outcome = model::SettleOutcome::kSettled;
  behaviour.settled[1].state = model::TaskState::kFailed;
  behaviour.settled[2].outcome = model::SettleOutcome::kLeaseLost;
  Front front(behaviour);
  v1::SettleRequest request;
  request.add_items()->mutable_ack()->set_lease_token(SealedToken());
  request.add_items()->mutable_nack()->set_lease_token(SealedToken());
  request.add_items()->mutable_release()->set_lease_token(SealedToken());
  v1::SettleResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  ASSERT_EQ(response.results_size(), 3);
  EXPECT_EQ(response.results(0).outcome(), v1::SETTLE_OUTCOME_REFUSED);
  EXPECT_EQ(response.results(0).refusal().field(), "ack.next_stage");
  EXPECT_EQ(response.results(1).state(), v1::TASK_STATE_FAILED);
  EXPECT_EQ(response.results(2).outcome(), v1::SETTLE_OUTCOME_LEASE_LOST);
  EXPECT_FALSE(response.has_lease());
  EXPECT_FALSE(response.has_lease_refusal());
  EXPECT_EQ(std::get<model::NackItem>(front.broker.settle.at(2)).disposition,
            model::NackDisposition::kRelease);
  EXPECT_THAT(front.metrics.Text(), HasSubstr("call=\"settle\"} 1"));
}

TEST(Reply, ALeaseThatFailsAfterTheItemsIsToldAsAStatusWouldSayIt) {
  FakeBroker::Behaviour behaviour;
  behaviour.settled.resize(1);
  behaviour.lease_refusal = base::RefuseField(absl::StatusCode::kNotFound, "QUEUE_NOT_FOUND",
                                              "queues[0].name", std::string(2000, 'x'));
  Front front(behaviour);
  v1::SettleRequest request;
  request.add_items()->mutable_ack()->set_lease_token(SealedToken());
  *request.mutable_lease_next() = WaitingLease();
  v1::SettleResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  EXPECT_EQ(response.results_size(), 1);
  EXPECT_FALSE(response.has_lease());
  EXPECT_EQ(response.lease_refusal().reason(), "QUEUE_NOT_FOUND");
  EXPECT_EQ(response.lease_refusal().field(), "queues[0].name");
  EXPECT_EQ(response.lease_refusal().message().size(), 1024u);
}

TEST(Reply, ADefectOfTheLeaseAfterAnAckIsNotToldToTheCaller) {
  FakeBroker::Behaviour behaviour;
  behaviour.settled.resize(1);
  behaviour.lease_refusal = absl::InternalError("SELECT secret");
  Front front(behaviour);
  v1::AckRequest request;
  request.add_items()->set_lease_token(SealedToken());
  *request.mutable_lease_next() = WaitingLease();
  v1::AckResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  EXPECT_EQ(response.lease_refusal().reason(), "INTERNAL_ERROR");
  EXPECT_THAT(response.lease_refusal().message(), ::testing::Not(HasSubstr("secret")));
}

TEST(Reply, HeartbeatTellsTheSessionAndEachLease) {
  FakeBroker::Behaviour behaviour;
  behaviour.heartbeat = {{model::LeaseState::kHeld, model::LeaseState::kLost,
                          model::LeaseState::kCancelRequested},
                    true,
                    absl::Seconds(29),
                    model::WorkerCommand::kQuiet};
  Front front(behaviour);
  v1::HeartbeatRequest request;
  request.set_worker_id("w");
  for (int i = 0; i < 3; ++i) request.add_leases()->set_lease_token(SealedToken());
  request.mutable_leases(1)->mutable_progress()->set_fraction(1.0);
  v1::HeartbeatResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  EXPECT_EQ(response.results(0).state(), v1::LEASE_STATE_HELD);
  EXPECT_EQ(response.results(1).state(), v1::LEASE_STATE_LOST);
  EXPECT_EQ(response.results(2).state(), v1::LEASE_STATE_CANCEL_REQUESTED);
  EXPECT_TRUE(response.session_alive());
  EXPECT_EQ(response.command(), v1::WORKER_COMMAND_QUIET);
  EXPECT_EQ(response.lease_remaining().seconds(), 29);
  EXPECT_EQ(front.broker.heartbeat.lease_duration, absl::ZeroDuration()) << "the session's own";
  EXPECT_FALSE(front.broker.heartbeat.leases[0].progress.has_value());
  EXPECT_EQ(front.broker.heartbeat.leases[1].progress->fraction, 1.0);
  EXPECT_THAT(front.metrics.Text(), HasSubstr("call=\"heartbeat\"} 1"));
}

TEST(Reply, GetQueueTellsSettingsPauseCountsAndEtag) {
  FakeBroker::Behaviour behaviour;
  model::Queue& queue = behaviour.queue.queue;
  queue.name = "mail";
  queue.lanes = {7, 8};
  queue.pause = model::PauseMode::kBoth;
  queue.pause_reason = "maintenance";
  queue.version = 12;
  queue.create_time = absl::FromUnixSeconds(1700000000);
  behaviour.queue.counts = {1, 2, 3, 4, 5};
  Front front(behaviour);
  v1::GetQueueRequest request;
  request.set_name("mail");
  v1::GetQueueResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  EXPECT_EQ(response.queue().lane_count(), 2);
  EXPECT_EQ(response.queue().pause_mode(), v1::PAUSE_MODE_BOTH);
  EXPECT_EQ(response.queue().pause_reason(), "maintenance");
  EXPECT_EQ(response.queue().etag(), "12");
  EXPECT_EQ(response.queue().settings().lease_duration().seconds(), 30);
  EXPECT_EQ(response.queue().counts().scheduled_count(), 1);
  EXPECT_EQ(response.queue().counts().failed_count(), 5);
}

TEST(Reply, ListQueuesPagesThroughAllNamesOnce) {
  FakeBroker::Behaviour behaviour;
  for (int i = 10; i < 35; ++i) {
    model::Queue queue;
    queue.name = absl::StrCat("q", i);
    behaviour.queues.push_back(queue);
  }
  Front front(behaviour);
  v1::ListQueuesRequest request;
  request.set_page_size(10);
  std::vector<std::string> names;
  do {
    v1::ListQueuesResponse response;
    ASSERT_TRUE(front.Call(request, &response).ok());
    EXPECT_LE(response.queues_size(), 10);
    for (const v1::Queue& queue : response.queues()) names.push_back(queue.name());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(front.broker.calls(), 3);
  ASSERT_EQ(names.size(), 25U);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(Reply, EtagsReachTheBrokerAsVersions) {
  Front front;
  v1::UpdateQueueRequest request;
  request.set_name("mail");
  request.mutable_settings()->set_keep_results(true);
  v1::UpdateQueueResponse response;
  for (const auto& [etag, version] : std::vector<std::pair<std::string, int64_t>>{
           {"12", 12}, {"012", -1}, {"W/12", -1}, {"99999999999999999999", -1}}) {
    request.set_etag(etag);
    ASSERT_TRUE(front.Call(request, &response).ok());
    EXPECT_EQ(front.broker.update.version, version) << etag;
  }
}

TEST(Reply, PauseDefaultsToLeasesAndResumeToNone) {
  Front front;
  v1::PauseQueueRequest pause;
  pause.set_name("mail");
  pause.set_reason(std::string(1024, 'r'));
  v1::PauseQueueResponse paused;
  ASSERT_TRUE(front.Call(pause, &paused).ok());
  EXPECT_EQ(front.broker.pause.mode, model::PauseMode::kLease);
  EXPECT_EQ(front.broker.pause.reason, pause.reason());
  v1::ResumeQueueRequest resume;
  resume.set_name("mail");
  v1::ResumeQueueResponse resumed;
  ASSERT_TRUE(front.Call(resume, &resumed).ok());
  EXPECT_EQ(front.broker.pause.mode, model::PauseMode::kNone);
  EXPECT_EQ(front.broker.pause.name, "mail");
}

TEST(Reply, GetTaskTellsWhatIsKnown) {
  FakeBroker::Behaviour behaviour;
  behaviour.task.id = {7, 9};
  behaviour.task.state = model::TaskState::kLeased;
  behaviour.task.lease_time = absl::FromUnixSeconds(1700000002);
  behaviour.task.last_error = model::TaskError{"TimeoutError", "late", "f"};
  behaviour.task.progress = model::TaskProgress{0.5, "half"};
  behaviour.task.last_progress = model::TaskProgress{0.2, "a fifth"};
  behaviour.task.attempt = 3;
  behaviour.task.worker_handle = "0123456789abcdef";
  behaviour.task.cancel_requested = true;
  behaviour.task.recurrence.emplace().run_all = true;
  Front front(behaviour);
  v1::GetTaskRequest request;
  request.set_task_id(model::FormatTaskId({7, 9}));
  v1::GetTaskResponse response;
  ASSERT_TRUE(front.Call(request, &response).ok());
  EXPECT_EQ(response.task().task_id(), request.task_id());
  EXPECT_EQ(response.task().state(), v1::TASK_STATE_LEASED);
  EXPECT_EQ(response.task().lease_time().seconds(), 1700000002);
  EXPECT_FALSE(response.task().has_end_time());
  EXPECT_EQ(response.task().last_error().text(), "late");
  EXPECT_EQ(response.task().progress().message(), "half");
  EXPECT_EQ(response.task().last_progress().message(), "a fifth");
  EXPECT_EQ(response.task().attempt_count(), 3);
  EXPECT_EQ(response.task().worker_handle(), "0123456789abcdef");
  EXPECT_TRUE(response.task().cancel_requested());
  EXPECT_EQ(response.task().recurrence().catch_up(), v1::CATCH_UP_RUN_ALL);
}

TEST(Reply, EveryCallPassesOnTheBrokersRefusal) {
  FakeBroker::Behaviour behaviour;
  behaviour.refusal =
      base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", "cannot be reached");
  Front front(behaviour);
  const auto expect_refusal = [](const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(Decode(status).info.reason(), "DATABASE_UNAVAILABLE");
    EXPECT_TRUE(Decode(status).retry.has_retry_delay());
  };
  v1::EnqueueRequest enqueue;
  enqueue.set_queue("mail");
  enqueue.add_tasks();
  v1::EnqueueResponse enqueued;
  expect_refusal(front.Call(enqueue, &enqueued));
  v1::LeaseResponse leased;
  expect_refusal(front.Call(WaitingLease(), &leased));
  v1::AckRequest ack;
  ack.add_items()->set_lease_token(SealedToken());
  v1::AckResponse acked;
  expect_refusal(front.Call(ack, &acked));
  v1::NackRequest nack;
  nack.add_items()->set_lease_token(SealedToken());
  v1::NackResponse nacked;
  expect_refusal(front.Call(nack, &nacked));
  v1::SettleRequest settle;
  settle.add_items()->mutable_release()->set_lease_token(SealedToken());
  v1::SettleResponse settled;
  expect_refusal(front.Call(settle, &settled));
  v1::HeartbeatRequest heartbeat;
  heartbeat.set_worker_id("w");
  v1::HeartbeatResponse beaten;
  expect_refusal(front.Call(heartbeat, &beaten));
  v1::ListQueuesResponse listed;
  expect_refusal(front.Call(v1::ListQueuesRequest(), &listed));
}

}  // namespace
}  // namespace skiplane::rpc
