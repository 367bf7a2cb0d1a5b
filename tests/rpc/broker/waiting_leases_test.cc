// How many calls may wait, and what the others are told.
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/rpc/background_lease.h"

namespace skiplane::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ServerOptions AtMost(int parked, int parked_per_connection) {
  ServerOptions options;
  options.limits.waiting_calls = parked;
  options.limits.waiting_calls_per_connection = parked_per_connection;
  return options;
}

FakeBroker::Behaviour SettlesOne() {
  FakeBroker::Behaviour behaviour;
  behaviour.settled = {model::SettleResult()};
  return behaviour;
}

v1::AckRequest OneAck() {
  v1::AckRequest request;
  request.add_items()->set_lease_token(SealedToken());
  return request;
}

class WaitingLeases : public ::testing::Test {
 protected:
  explicit WaitingLeases(int parked = 3, int parked_per_connection = 2)
      : front_(SettlesOne(), AtMost(parked, parked_per_connection)) {}

  ~WaitingLeases() override { front_.broker.AnswerParked({}); }

  void Park(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      parked_.push_back(std::make_unique<BackgroundLease>(front_, WaitingLease()));
    }
    ASSERT_TRUE(front_.broker.WaitForParked(count));
  }

  // From another connection.
  grpc::Status LeaseElsewhere(int64_t wait_seconds) {
    grpc::ChannelArguments apart;
    apart.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = v1::BrokerService::NewStub(grpc::CreateCustomChannel(
        front_.address(), grpc::InsecureChannelCredentials(), apart));
    grpc::ClientContext context;
    v1::LeaseResponse response;
    return stub->Lease(&context, WaitingLease(wait_seconds), &response);
  }

  // Until so many have ended on the server's side, too.
  void WaitForEnds(int count) {
    const std::string line = absl::StrCat(
        "grpc_server_call_duration_seconds_count{grpc_method=\"skiplane.v1.BrokerService/Lease\","
        "grpc_status=\"OK\"} ",
        count, "\n");
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!absl::StrContains(front_.metrics.Text(), line)) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
  }

  Front front_;
  std::vector<std::unique_ptr<BackgroundLease>> parked_;
};

TEST_F(WaitingLeases, BeyondThoseOfOneConnectionAreRefusedAndToldWhatToDo) {
  Park(2);
  v1::LeaseResponse response;
  const grpc::Status status = front_.Call(WaitingLease(), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Decode(status).info.reason(), "TOO_MANY_WAITING_CALLS");
  EXPECT_TRUE(Decode(status).retry.has_retry_delay());
  EXPECT_THAT(status.error_message(),
              AllOf(HasSubstr("2 calls and streams wait on this connection"),
                    HasSubstr("use more connections"), HasSubstr("one per worker or producer")));
}

TEST_F(WaitingLeases, DoNotKeepAcksOfTheirConnectionOut) {
  Park(2);
  v1::AckResponse response;
  EXPECT_TRUE(front_.Call(OneAck(), &response).ok());
  EXPECT_EQ(response.results_size(), 1);
}

TEST_F(WaitingLeases, OfAnAckDoNotWaitIfTooManyDo) {
  Park(2);
  v1::AckRequest request = OneAck();
  *request.mutable_lease_next() = WaitingLease();
  v1::AckResponse response;
  EXPECT_TRUE(front_.Call(request, &response).ok());
  EXPECT_EQ(response.results_size(), 1);
  EXPECT_EQ(front_.broker.lease.wait, absl::ZeroDuration());
}

TEST_F(WaitingLeases, CountWithCallsThatWaitForATask) {
  Park(2);
  v1::GetTaskRequest request;
  request.set_task_id("7-1");
  request.mutable_wait()->set_seconds(60);
  v1::GetTaskResponse response;
  const grpc::Status status = front_.Call(request, &response);
  EXPECT_EQ(Decode(status).info.reason(), "TOO_MANY_WAITING_CALLS");
  request.clear_wait();
  EXPECT_TRUE(front_.Call(request, &response).ok());
}

TEST_F(WaitingLeases, OfOneConnectionLeaveRoomForThoseOfAnother) {
  Park(2);
  auto other = std::async(std::launch::async, [this] { return LeaseElsewhere(60); });
  EXPECT_TRUE(front_.broker.WaitForParked(3));
  const grpc::Status third = LeaseElsewhere(60);
  EXPECT_EQ(Decode(third).info.reason(), "TOO_MANY_WAITING_CALLS");
  EXPECT_THAT(third.error_message(), HasSubstr("in this broker"));
  front_.broker.AnswerParked({});
  EXPECT_TRUE(other.get().ok());
}

TEST_F(WaitingLeases, GiveTheirPlacesBack) {
  for (int round = 1; round <= 3; ++round) {
    Park(2);
    front_.broker.AnswerParked({});
    for (const auto& lease : parked_) EXPECT_TRUE(lease->Wait().ok());
    parked_.clear();
    WaitForEnds(2 * round);
  }
}

}  // namespace
}  // namespace skiplane::rpc
