// What a call is asked before the broker sees it, and how it counts: at a server with limits and
// counts of the test's own.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <grpcpp/support/server_interceptor.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/broker/broker_service.h"
#include "tests/rpc/background_lease.h"

namespace skiplane::rpc {
namespace {

constexpr std::chrono::minutes kGenerous(1);

// Tells when gRPC knows that the caller of an Enqueue has left, or has its answer.
class TellsOfEnds final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit TellsOfEnds(std::promise<void>& ended) : ended_(ended) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return new Interceptor(absl::EndsWith(info->method(), "/Enqueue") ? &ended_ : nullptr);
  }

 private:
  class Interceptor final : public grpc::experimental::Interceptor {
   public:
    explicit Interceptor(std::promise<void>* ended) : ended_(ended) {}
    void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
      using Point = grpc::experimental::InterceptionHookPoints;
      const bool has_ended = methods->QueryInterceptionHookPoint(Point::POST_RECV_CLOSE);
      if (has_ended && ended_ != nullptr) ended_->set_value();
      methods->Proceed();
    }

   private:
    std::promise<void>* const ended_;
  };

  std::promise<void>& ended_;
};

class AdmissionTest : public ::testing::Test {
 protected:
  // As many calls as are under way, and one more.
  static InFlight::Limits OneCall() {
    InFlight::Limits limits;
    limits.calls = 1;
    limits.principal_share = 100;
    return limits;
  }

  AdmissionTest() {
    broker_.behaviour.answers_at_once = false;
    broker_.behaviour.answers_cancelled = false;
    broker_.behaviour.settled.resize(1);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> tell;
    tell.push_back(std::make_unique<TellsOfEnds>(enqueue_ended_));
    builder.experimental().SetInterceptorCreators(std::move(tell));
    server_ = builder.BuildAndStart();
    stub_ = v1::BrokerService::NewStub(grpc::CreateChannel(
        absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  }
  ~AdmissionTest() override {
    broker_.AnswerParked({});
    server_->Shutdown();
  }

  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (v1::BrokerService::Stub::*method)(grpc::ClientContext*,
                                                                    const Request&, Response*),
                    const Request& request) {
    grpc::ClientContext context;
    Response response;
    return ((*stub_).*method)(&context, request, &response);
  }

  template <typename Request>
  Request WithToken(Request request) {
    std::string token = GoodToken();
    sealer_.For(access::kAnonymous).Seal(&token);
    request.add_items()->set_lease_token(token);
    return request;
  }

  static v1::EnqueueRequest EnqueueOne() {
    v1::EnqueueRequest request;
    request.set_queue("mail");
    request.add_tasks();
    return request;
  }

  grpc::Status Beat() {
    v1::HeartbeatRequest request;
    request.set_worker_id("w");
    return Call(&v1::BrokerService::Stub::Heartbeat, request);
  }

  // A lease that the broker answers when it is told to.
  std::future<grpc::Status> BeginLease(grpc::ClientContext& context, int64_t wait_seconds) {
    auto status = std::async(std::launch::async, [this, &context, wait_seconds] {
      v1::LeaseResponse response;
      return stub_->Lease(&context, WaitingLease(wait_seconds), &response);
    });
    EXPECT_TRUE(broker_.WaitForParked(1));
    return status;
  }

  FakeBroker broker_;
  metrics::Metrics metrics_{"test", "test"};
  InFlight in_flight_{OneCall()};
  CallTally tally_;
  const access::Authenticator everybody_{access::Sources{}};
  const access::TokenSealer sealer_;
  BrokerService service_{broker_, {metrics_, in_flight_, tally_, everybody_, sealer_}};
  std::promise<void> enqueue_ended_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::BrokerService::Stub> stub_;
};

TEST_F(AdmissionTest, WhatKeepsWorkFindsRoomWhereNothingElseDoes) {
  using Stub = v1::BrokerService::Stub;
  grpc::ClientContext context;
  auto lease = BeginLease(context, 0);
  for (const grpc::Status& refused :
       {Call(&Stub::Enqueue, EnqueueOne()), Call(&Stub::Lease, WaitingLease(0))}) {
    EXPECT_EQ(Decode(refused).info.reason(), "TOO_MANY_CALLS");
  }
  EXPECT_TRUE(Call(&Stub::Ack, WithToken(v1::AckRequest())).ok());
  EXPECT_TRUE(Call(&Stub::Nack, WithToken(v1::NackRequest())).ok());
  v1::SettleRequest settle;
  settle.add_items()->mutable_ack()->set_lease_token(
      WithToken(v1::AckRequest()).items(0).lease_token());
  EXPECT_TRUE(Call(&Stub::Settle, settle).ok());
  EXPECT_TRUE(Beat().ok());
  broker_.AnswerParked({});
  EXPECT_TRUE(lease.get().ok());
}

TEST_F(AdmissionTest, ACallThatIsGivenUpCountsSoUntilTheBrokerHasAnsweredIt) {
  grpc::ClientContext context;
  auto lease = BeginLease(context, 0);
  context.TryCancel();
  ASSERT_TRUE(broker_.WaitForCancels(1));
  EXPECT_EQ(tally_.given_up(), 1);
  broker_.AnswerParked({});
  EXPECT_TRUE(in_flight_.WaitForNone(std::chrono::steady_clock::now() + kGenerous));
  EXPECT_EQ(tally_.given_up(), 0);
}

// The broker drops it at once.
TEST_F(AdmissionTest, OneThatWaitsForTasksDoesNot) {
  grpc::ClientContext context;
  auto lease = BeginLease(context, 60);
  context.TryCancel();
  ASSERT_TRUE(broker_.WaitForCancels(1));
  EXPECT_EQ(tally_.given_up(), 0);
}

// A call comes as far as the tally, which somebody looks through; meanwhile its caller leaves.
TEST_F(AdmissionTest, ACallWhoseCallerHasLeftBeforeIsNotBegun) {
  ASSERT_TRUE(Beat().ok());
  std::promise<void> looks;
  std::promise<void> goes_on;
  std::thread sweep([&] {
    tally_.Sweep([&](absl::string_view) {
      looks.set_value();
      goes_on.get_future().wait();
      return true;
    });
  });
  looks.get_future().wait();
  grpc::ClientContext context;
  auto enqueue = std::async(std::launch::async, [&] {
    v1::EnqueueResponse response;
    return stub_->Enqueue(&context, EnqueueOne(), &response);
  });
  const std::string begun = R"({grpc_method="skiplane.v1.BrokerService/Enqueue"} 1)";
  const auto give_up = std::chrono::steady_clock::now() + kGenerous;
  while (!absl::StrContains(metrics_.Text(), begun)) {
    EXPECT_LT(std::chrono::steady_clock::now(), give_up);
  }
  context.TryCancel();
  EXPECT_EQ(enqueue_ended_.get_future().wait_for(kGenerous), std::future_status::ready);
  goes_on.set_value();
  sweep.join();
  EXPECT_EQ(enqueue.get().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(in_flight_.WaitForNone(std::chrono::steady_clock::now() + kGenerous));
  EXPECT_EQ(broker_.calls(), 1) << "the heartbeat";
  EXPECT_EQ(tally_.given_up(), 0);
}

}  // namespace
}  // namespace skiplane::rpc
