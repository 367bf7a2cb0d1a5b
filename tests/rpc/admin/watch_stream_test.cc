// A Watch by gRPC, in front of a broker that tells of no queue once and then waits.
#include <memory>

#include "gtest/gtest.h"
#include "server/base/reason.h"
#include "tests/rpc/front.h"

namespace skiplane::rpc {
namespace {

class WatchStreamTest : public ::testing::Test {
 protected:
  // Reads the first message.
  void Begin() {
    stream_ = front_.admin->Watch(&context_, v1::WatchRequest());
    v1::WatchResponse message;
    ASSERT_TRUE(stream_->Read(&message));
    EXPECT_FALSE(message.more_follows());
  }
  grpc::Status End() {
    v1::WatchResponse message;
    EXPECT_FALSE(stream_->Read(&message));
    return stream_->Finish();
  }
  FakeOperator& fake() { return front_.broker.operators; }

  Front front_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchResponse>> stream_;
};

TEST_F(WatchStreamTest, ADrainEndsItWithOk) {
  Begin();
  front_.server->Drain(absl::Hours(1));
  EXPECT_TRUE(End().ok());
}

TEST_F(WatchStreamTest, WhoLeavesHoldsUpNoDrain) {
  Begin();
  context_.TryCancel();
  EXPECT_EQ(End().error_code(), grpc::StatusCode::CANCELLED);
  front_.server->Drain(absl::Hours(1));
}

TEST_F(WatchStreamTest, WhatTheBrokerRefusesEndsIt) {
  fake().refusal =
      base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE", "no database");
  stream_ = front_.admin->Watch(&context_, v1::WatchRequest());
  const grpc::Status status = End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Decode(status).info.reason(), "DATABASE_UNAVAILABLE");
}

TEST_F(WatchStreamTest, NoMoreQueuesCanBeNamedThanOfAList) {
  v1::WatchRequest request;
  for (int i = 0; i < 101; ++i) request.add_queues("q");
  stream_ = front_.admin->Watch(&context_, request);
  const grpc::Status status = End();
  EXPECT_EQ(Decode(status).Field(), "queues");
}

}  // namespace
}  // namespace skiplane::rpc
