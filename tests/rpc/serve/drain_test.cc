#include <future>

#include <gtest/gtest.h>

#include "tests/rpc/background_lease.h"
#include "tests/rpc/serve/raw_stream.h"

namespace skiplane::rpc {
namespace {

constexpr auto kGenerous = std::chrono::seconds(60);

// By HTTP a call ended the process that began as the services had just ended.
TEST(Drain, NoInnerCallBeginsWhenTheServicesHaveEnded) {
  Front front;
  const auto begins = [&front] {
    return front.server->inner_channel()->Begin([](const InnerChannel::ChannelPtr&) {});
  };
  EXPECT_TRUE(begins());
  front.server->Drain(absl::Minutes(1));
  EXPECT_FALSE(begins());
}

TEST(Drain, AnswersParkedLeasesAndTurnsNewCallsAway) {
  Front front;
  BackgroundLease lease(front, WaitingLease());
  ASSERT_TRUE(front.broker.WaitForParked(1));
  front.server->Drain(absl::Minutes(1));
  EXPECT_TRUE(lease.Wait().ok());
  EXPECT_EQ(lease.response.tasks_size(), 0);
  v1::EnqueueRequest request;
  request.set_queue("mail");
  request.add_tasks();
  v1::EnqueueResponse response;
  EXPECT_EQ(front.Call(request, &response).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(front.broker.calls(), 1);
}

// gRPC by itself would turn them away as CANCELLED, which no caller repeats.
TEST(Drain, RefusesLateCallsByTheReasonWhileOthersAreAnswered) {
  FakeBroker::Behaviour behaviour;
  behaviour.answers_at_drain = false;
  Front front(behaviour);
  BackgroundLease lease(front, WaitingLease());
  ASSERT_TRUE(front.broker.WaitForParked(1));
  std::future<void> drained =
      std::async(std::launch::async, [&front] { front.server->Drain(absl::Hours(1)); });
  v1::EnqueueRequest request;
  request.set_queue("mail");
  request.add_tasks();
  grpc::Status status;
  v1::EnqueueResponse response;
  while (status.ok()) status = front.Call(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Decode(status).info.reason(), "BROKER_DRAINING");
  front.broker.AnswerParked({});
  EXPECT_TRUE(lease.Wait().ok());
  EXPECT_EQ(drained.wait_for(kGenerous), std::future_status::ready);
}

TEST(Drain, EndsWithTheLastCallThoughHealthIsWatched) {
  Front front;
  front.server->SetReady(true);
  RawStream watch(front.channel, "/grpc.health.v1.Health/Watch", HealthRequest(""));
  EXPECT_EQ(watch.Read(), "\x08\x01");
  std::future<void> drained =
      std::async(std::launch::async, [&front] { front.server->Drain(absl::Hours(1)); });
  EXPECT_EQ(watch.Read(), "\x08\x02");
  EXPECT_EQ(drained.wait_for(kGenerous), std::future_status::ready);
}

TEST(Drain, CutsOffWhatIsNotAnsweredInTime) {
  FakeBroker::Behaviour behaviour;
  behaviour.answers_at_drain = false;
  Front front(behaviour);
  BackgroundLease lease(front, WaitingLease());
  ASSERT_TRUE(front.broker.WaitForParked(1));
  front.server->Drain(absl::Milliseconds(100));
  EXPECT_EQ(lease.Wait().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(front.broker.WaitForCancels(1));
}

TEST(Drain, MayBeAskedForTwiceAndReleasesWhoWaits) {
  Front front;
  std::future<void> waited =
      std::async(std::launch::async, [&front] { front.server->Wait(); });
  front.server->Drain(absl::Minutes(1));
  front.server->Drain(absl::Minutes(1));
  EXPECT_EQ(waited.wait_for(kGenerous), std::future_status::ready);
}

}  // namespace
}  // namespace skiplane::rpc
