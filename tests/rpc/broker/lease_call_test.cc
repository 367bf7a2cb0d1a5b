#include "server/rpc/broker/lease_call.h"

#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/model/limits.h"
#include "tests/rpc/background_lease.h"

namespace skiplane::rpc {
namespace {

using std::chrono::milliseconds;

FakeBroker::Behaviour AnswersCancelledItself() {
  FakeBroker::Behaviour behaviour;
  behaviour.answers_cancelled = false;
  return behaviour;
}

// After it, every call has reached its end on the server's side too.
void EndAllCalls(Front& front) { front.server->Drain(absl::Minutes(1)); }

TEST(CutWait, EndsBeforeTheDeadlineAndIsNeverNegative) {
  const absl::Duration minute = absl::Minutes(1);
  const absl::Duration never = absl::InfiniteDuration();
  EXPECT_EQ(CutWait(absl::Seconds(5), never), absl::Seconds(5));
  EXPECT_EQ(CutWait(absl::Hours(1), never), model::kWaitMax);
  EXPECT_EQ(CutWait(minute, absl::Seconds(10)), absl::Milliseconds(9500));
  EXPECT_EQ(CutWait(minute, absl::Milliseconds(400)), absl::Milliseconds(300));
  EXPECT_EQ(CutWait(minute, absl::ZeroDuration()), absl::ZeroDuration());
  EXPECT_EQ(CutWait(minute, absl::Seconds(-3)), absl::ZeroDuration());
  EXPECT_EQ(CutWait(minute, -never), absl::ZeroDuration());
  EXPECT_EQ(CutWait(absl::ZeroDuration(), absl::Seconds(10)), absl::ZeroDuration());
}

TEST(LeaseCall, TellsTheBrokerAWaitThatEndsBeforeTheDeadline) {
  Front front;
  BackgroundLease lease(front, WaitingLease(60), milliseconds(20000));
  ASSERT_TRUE(front.broker.WaitForParked(1));
  // gRPC rounds the time to the deadline up on its way, here to a tenth of a second.
  EXPECT_LE(front.broker.lease.wait, absl::Milliseconds(19600));
  EXPECT_GT(front.broker.lease.wait, absl::ZeroDuration());
  front.broker.AnswerParked(SomeTasks(1));
  EXPECT_TRUE(lease.Wait().ok());
}

TEST(LeaseCall, WithoutADeadlineWaitsAsAsked) {
  Front front;
  grpc::ClientContext context;
  v1::LeaseResponse response;
  auto status = std::async(std::launch::async, [&] {
    return front.stub->Lease(&context, WaitingLease(60), &response);
  });
  ASSERT_TRUE(front.broker.WaitForParked(1));
  EXPECT_EQ(front.broker.lease.wait, absl::Seconds(60));
  front.broker.AnswerParked({});
  EXPECT_TRUE(status.get().ok());
}

TEST(LeaseCall, IsCancelledAtTheBrokerWhenItsCallerCancels) {
  Front front;
  BackgroundLease lease(front, WaitingLease());
  ASSERT_TRUE(front.broker.WaitForParked(1));
  lease.Cancel();
  EXPECT_EQ(lease.Wait().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(front.broker.WaitForCancels(1));
  EndAllCalls(front);
  EXPECT_TRUE(front.broker.handed_back().empty());
  EXPECT_THAT(front.metrics.Text(), ::testing::HasSubstr("grpc_status=\"CANCELLED\""));
}

TEST(LeaseCall, IsCancelledAtTheBrokerWhenItsDeadlinePasses) {
  Front front(AnswersCancelledItself());
  // Connected before: the deadline is for the call alone.
  ASSERT_TRUE(front.channel->WaitForConnected(std::chrono::system_clock::now() +
                                              std::chrono::minutes(1)));
  BackgroundLease lease(front, WaitingLease(), milliseconds(2000));
  ASSERT_TRUE(front.broker.WaitForParked(1));
  ASSERT_TRUE(front.broker.WaitForCancels(1));
  EXPECT_EQ(lease.Wait().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  front.broker.AnswerParked(SomeTasks(2));
  EXPECT_TRUE(front.broker.WaitForHandBacks(1));
  EndAllCalls(front);
  // Which of the two depends on whose clock noticed it first.
  EXPECT_THAT(front.metrics.Text(),
              ::testing::AnyOf(::testing::HasSubstr("grpc_status=\"DEADLINE_EXCEEDED\""),
                               ::testing::HasSubstr("grpc_status=\"CANCELLED\"")));
}

TEST(LeaseCall, HandsBackWhatItsVanishedCallerCannotGet) {
  Front front(AnswersCancelledItself());
  BackgroundLease lease(front, WaitingLease());
  ASSERT_TRUE(front.broker.WaitForParked(1));
  lease.Cancel();
  ASSERT_TRUE(front.broker.WaitForCancels(1));
  const broker::LeaseAnswer answer = SomeTasks(3);
  front.broker.AnswerParked(answer);
  ASSERT_TRUE(front.broker.WaitForHandBacks(1));
  EndAllCalls(front);
  ASSERT_EQ(front.broker.handed_back().size(), 1U);
  const broker::LeaseAnswer back = front.broker.handed_back().front();
  ASSERT_EQ(back.tasks.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.tasks[i].token, answer.tasks[i].token);
    EXPECT_EQ(back.tasks[i].queue, "mail");
  }
}

TEST(LeaseCall, HandsNothingBackWhenTheAnswerArrived) {
  Front front;
  BackgroundLease lease(front, WaitingLease());
  ASSERT_TRUE(front.broker.WaitForParked(1));
  front.broker.AnswerParked(SomeTasks(3));
  ASSERT_TRUE(lease.Wait().ok());
  EXPECT_EQ(lease.response.tasks_size(), 3);
  EndAllCalls(front);
  EXPECT_TRUE(front.broker.handed_back().empty());
}

TEST(LeaseCall, WithARequestIdLeavesItsTasksToTheRepeat) {
  Front front(AnswersCancelledItself());
  v1::LeaseRequest request = WaitingLease();
  request.set_worker_id("worker");
  request.set_request_id("again");
  BackgroundLease lease(front, request);
  ASSERT_TRUE(front.broker.WaitForParked(1));
  lease.Cancel();
  ASSERT_TRUE(front.broker.WaitForCancels(1));
  front.broker.AnswerParked(SomeTasks(3));
  EndAllCalls(front);
  EXPECT_TRUE(front.broker.handed_back().empty());
}

// One call that is cancelled and answered at the same moment. Returns the numbers of the tasks that
// arrived.
std::set<int64_t> RaceOnce(Front& front, int number) {
  BackgroundLease lease(front, WaitingLease());
  EXPECT_TRUE(front.broker.WaitForParked(1));
  broker::LeaseAnswer answer = SomeTasks(1);
  answer.tasks[0].token.task.id = number;
  std::thread canceller([&lease] { lease.Cancel(); });
  front.broker.AnswerParked(answer);
  canceller.join();
  std::set<int64_t> arrived;
  if (!lease.Wait().ok()) return arrived;
  for (const v1::LeasedTask& task : lease.response.tasks()) {
    const auto id = model::ParseTaskId(task.task_id());
    if (id.ok()) arrived.insert(id->id);
  }
  return arrived;
}

TEST(LeaseCall, NeverHandsBackWhatArrivedHoweverTheyRace) {
  Front front(AnswersCancelledItself());
  std::set<int64_t> arrived;
  for (int i = 1; i <= 400; ++i) arrived.merge(RaceOnce(front, i));
  EndAllCalls(front);
  for (const broker::LeaseAnswer& back : front.broker.handed_back()) {
    EXPECT_EQ(arrived.count(back.tasks.at(0).token.task.id), 0U);
  }
  RecordProperty("arrived", static_cast<int>(arrived.size()));
  RecordProperty("handed_back", static_cast<int>(front.broker.handed_back().size()));
  EXPECT_LE(arrived.size() + front.broker.handed_back().size(), 400U);
}

TEST(LeaseCall, ThousandsWaitOnOneConnection) {
  Front front;
  constexpr size_t kCalls = 2000;
  struct Waiting {
    grpc::ClientContext context;
    v1::LeaseResponse response;
    std::promise<bool> ok;
  };
  const v1::LeaseRequest request = WaitingLease();
  std::vector<std::unique_ptr<Waiting>> calls;
  for (size_t i = 0; i < kCalls; ++i) {
    calls.push_back(std::make_unique<Waiting>());
    Waiting* call = calls.back().get();
    front.stub->async()->Lease(
        &call->context, &request, &call->response,
        [call](const grpc::Status& status) { call->ok.set_value(status.ok()); });
  }
  ASSERT_TRUE(front.broker.WaitForParked(kCalls));
  front.broker.AnswerParked({});
  for (const auto& call : calls) EXPECT_TRUE(call->ok.get_future().get());
}

}  // namespace
}  // namespace skiplane::rpc
