// What the broker is told of who calls: by it turns, new queues and answers that are not read are
// counted.
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "server/access/new_token.h"
#include "server/access/token_file.h"
#include "server/access/worker_key.h"
#include "tests/rpc/background_lease.h"
#include "tests/support/require.h"

namespace skiplane::rpc {
namespace {

using testing::Required;

constexpr char kPrincipal[] = "token:worker";
constexpr char kWorker[] = "w";

access::Sources Knows(const access::NewToken& token) {
  access::Sources sources;
  sources.tokens = std::make_shared<const access::TokenTable>(
      Required(access::TokenTable::Parse(token.line, "tokens")));
  return sources;
}

FakeBroker::Behaviour AnswersAnAck() {
  FakeBroker::Behaviour behaviour;
  behaviour.settled.resize(1);
  return behaviour;
}

v1::AckRequest AckWithFollowUp(std::string token) {
  v1::AckRequest request;
  v1::AckItem& item = *request.add_items();
  item.set_lease_token(std::move(token));
  item.add_follow_ups()->set_queue("next");
  return request;
}

v1::LeaseRequest LeaseOfWorker() {
  v1::LeaseRequest request = WaitingLease();
  request.set_worker_id(kWorker);
  return request;
}

std::string PrincipalOf(const model::SettleItem& item) {
  return std::get<model::AckItem>(item).continuation->principal;
}

class WhoCallsTest : public ::testing::Test {
 protected:
  WhoCallsTest() { context_.AddMetadata("authorization", "Bearer " + token_.token); }

  ServerOptions Options() const {
    ServerOptions options;
    options.sealer = &sealer_;
    options.authenticator = &authenticator_;
    return options;
  }

  std::string LeaseToken() const {
    std::string token = GoodToken();
    sealer_.For(kPrincipal).Seal(&token);
    return token;
  }

  // `call` waits for a lease.
  template <typename Call>
  void ExpectWaitsAsPrincipal(Call call) {
    auto status = std::async(std::launch::async, std::move(call));
    ASSERT_TRUE(front_.broker.WaitForParked(1));
    EXPECT_EQ(front_.broker.lease.principal, kPrincipal);
    EXPECT_EQ(front_.broker.lease.party, kPrincipal);
    EXPECT_EQ(front_.broker.lease.worker_id, access::WorkerKey(kPrincipal, kWorker));
    front_.broker.AnswerParked(SomeTasks(1));
    EXPECT_TRUE(status.get().ok());
  }

  const access::NewToken token_ = Required(access::MakeToken("worker", {}));
  const access::Authenticator authenticator_{Knows(token_)};
  const access::TokenSealer sealer_;
  Front front_{AnswersAnAck(), Options()};
  grpc::ClientContext context_;
};

TEST_F(WhoCallsTest, OfAnEnqueue) {
  v1::EnqueueRequest request;
  request.set_queue("mail");
  request.add_tasks();
  v1::EnqueueResponse response;
  ASSERT_TRUE(front_.stub->Enqueue(&context_, request, &response).ok());
  EXPECT_EQ(front_.broker.enqueue.principal, kPrincipal);
  EXPECT_EQ(front_.broker.enqueue.party, kPrincipal);
}

TEST_F(WhoCallsTest, OfALease) {
  v1::LeaseResponse response;
  ExpectWaitsAsPrincipal([&] {
    return front_.stub->Lease(&context_, LeaseOfWorker(), &response);
  });
}

TEST_F(WhoCallsTest, OfALeaseWithAnAck) {
  v1::AckRequest request;
  request.add_items()->set_lease_token(LeaseToken());
  *request.mutable_lease_next() = LeaseOfWorker();
  v1::AckResponse response;
  ExpectWaitsAsPrincipal([&] { return front_.stub->Ack(&context_, request, &response); });
}

TEST_F(WhoCallsTest, OfAHeartbeat) {
  v1::HeartbeatRequest request;
  request.set_worker_id(kWorker);
  v1::HeartbeatResponse response;
  ASSERT_TRUE(front_.stub->Heartbeat(&context_, request, &response).ok());
  EXPECT_EQ(front_.broker.heartbeat.worker_id, access::WorkerKey(kPrincipal, kWorker));
}

TEST_F(WhoCallsTest, OfTheFollowUpsOfAnAck) {
  v1::AckResponse response;
  ASSERT_TRUE(front_.stub->Ack(&context_, AckWithFollowUp(LeaseToken()), &response).ok());
  EXPECT_EQ(PrincipalOf(front_.broker.settle.at(0)), kPrincipal);
  EXPECT_EQ(front_.broker.settle_party, kPrincipal);
}

TEST_F(WhoCallsTest, OfAStreamAndOfItsFollowUps) {
  const auto stream = front_.stub->Work(&context_);
  v1::WorkRequest hello;
  hello.mutable_hello()->set_worker_id(kWorker);
  hello.mutable_hello()->add_queues()->set_name("mail");
  v1::WorkRequest settlement;
  settlement.add_settlements()->set_number(1);
  *settlement.mutable_settlements(0)->mutable_item()->mutable_ack() =
      AckWithFollowUp(LeaseToken()).items(0);
  v1::WorkResponse response;
  ASSERT_TRUE(stream->Write(hello) && stream->Write(settlement));
  while (response.results().empty()) ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(front_.broker.open.lease.principal, kPrincipal);
  EXPECT_EQ(front_.broker.open.lease.worker_id, access::WorkerKey(kPrincipal, kWorker));
  EXPECT_EQ(PrincipalOf(front_.broker.settle.at(0)), kPrincipal);
  EXPECT_EQ(front_.broker.settle_party, kPrincipal);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

// Nobody: no principal has a part that all callers would share.
TEST(WhoCalls, WhereNobodyHasToProveIt) {
  Front front(AnswersAnAck());
  v1::EnqueueRequest request;
  request.set_queue("mail");
  request.add_tasks();
  v1::EnqueueResponse enqueued;
  ASSERT_TRUE(front.Call(request, &enqueued).ok());
  EXPECT_EQ(front.broker.enqueue.principal, "");
  v1::AckResponse acked;
  ASSERT_TRUE(front.Call(AckWithFollowUp(SealedToken()), &acked).ok());
  EXPECT_EQ(PrincipalOf(front.broker.settle.at(0)), "");
}

}  // namespace
}  // namespace skiplane::rpc
