// Calls that their callers have given up, and that the broker has still to answer.
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "server/rpc/call/call_tally.h"
#include "tests/rpc/background_lease.h"

namespace skiplane::rpc {
namespace {

FakeBroker::Behaviour AnswersLate() {
  FakeBroker::Behaviour behaviour;
  behaviour.answers_cancelled = false;
  behaviour.answers_at_once = false;
  return behaviour;
}

v1::LeaseRequest LeaseAtOnce() { return WaitingLease(0); }

// A connection of its own.
class OneConnection {
 public:
  explicit OneConnection(const Front& front) {
    grpc::ChannelArguments apart;
    apart.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::BrokerService::NewStub(grpc::CreateCustomChannel(
        front.address(), grpc::InsecureChannelCredentials(), apart));
  }
  ~OneConnection() {
    Cancel();
    for (const auto& call : calls_) call->ended.get_future().wait();
  }

  void BeginLeases(int count) {
    for (int i = 0; i < count; ++i) {
      Call* const call = calls_.emplace_back(std::make_unique<Call>()).get();
      stub_->async()->Lease(&call->context, &request_, &call->response,
                            [call](grpc::Status) { call->ended.set_value(); });
    }
  }

  void Cancel() {
    for (const auto& call : calls_) call->context.TryCancel();
  }

  grpc::Status Enqueue() {
    v1::EnqueueRequest request;
    request.set_queue("mail");
    request.add_tasks();
    grpc::ClientContext context;
    v1::EnqueueResponse response;
    return stub_->Enqueue(&context, request, &response);
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::LeaseResponse response;
    std::promise<void> ended;
  };

  const v1::LeaseRequest request_ = LeaseAtOnce();
  std::unique_ptr<v1::BrokerService::Stub> stub_;
  std::deque<std::unique_ptr<Call>> calls_;
};

TEST(GivenUpCallsTest, AConnectionWithTooManyOfThemBeginsNoMoreUntilTheyAreAnswered) {
  constexpr int kTooMany = CallTally::kAbandonedMax + 1;
  constexpr int kAtOnce = kTooMany / 13;  // fewer than a connection may have streams
  static_assert(kTooMany % kAtOnce == 0);
  Front front(AnswersLate());
  OneConnection greedy(front);
  OneConnection other(front);
  for (int begun = kAtOnce; begun <= kTooMany; begun += kAtOnce) {
    greedy.BeginLeases(kAtOnce);
    ASSERT_TRUE(front.broker.WaitForParked(static_cast<size_t>(begun)));
    EXPECT_TRUE(greedy.Enqueue().ok()) << "there are not too many yet";
    greedy.Cancel();
    ASSERT_TRUE(front.broker.WaitForCancels(begun));
  }
  const grpc::Status refused = greedy.Enqueue();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Decode(refused).info.reason(), "TOO_MANY_CALLS");
  EXPECT_TRUE(other.Enqueue().ok());
  front.broker.AnswerParked({});
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!greedy.Enqueue().ok()) ASSERT_LT(std::chrono::steady_clock::now(), give_up);
}

}  // namespace
}  // namespace skiplane::rpc
