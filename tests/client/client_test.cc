// The calls of a Client against a broker that fails on demand.
#include "skiplane/client.h"

#include <google/protobuf/any.pb.h>

#include <future>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/src/connection.h"
#include "client/src/convert_time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "skiplane/error.h"
#include "tests/client/fake_broker.h"

namespace skiplane {
namespace {

const grpc::Status kUnavailable(grpc::UNAVAILABLE, "away");

class ClientTest : public testing::Test {
 protected:
  Client Connected(ClientOptions options = {}) {
    options.addresses = {broker_.address()};
    options.backoff = absl::Milliseconds(1);
    return *Client::Connect(options);
  }

  // What the broker's refusals look like on the wire.
  static grpc::Status Refusal(const std::string& reason, const std::string& field) {
    google::rpc::Status status;
    google::rpc::ErrorInfo error;
    error.set_reason(reason);
    error.set_domain("skiplane.dev");
    status.add_details()->PackFrom(error);
    google::rpc::BadRequest bad_request;
    bad_request.add_field_violations()->set_field(field);
    status.add_details()->PackFrom(bad_request);
    return {grpc::INVALID_ARGUMENT, "no", status.SerializeAsString()};
  }
  static grpc::Status NoRoom(const std::string& reason, absl::Duration delay) {
    google::rpc::Status status;
    google::rpc::ErrorInfo error;
    error.set_reason(reason);
    status.add_details()->PackFrom(error);
    google::rpc::RetryInfo retry;
    internal::ToProto(delay, retry.mutable_retry_delay());
    status.add_details()->PackFrom(retry);
    return {grpc::RESOURCE_EXHAUSTED, "no", status.SerializeAsString()};
  }

  FakeBroker broker_;
};

TEST_F(ClientTest, EnqueueIsRepeatedUnderTheSameRequestId) {
  broker_.FailNext("Enqueue", 4, kUnavailable);
  const auto result = Connected().Enqueue("q", {.payload = "p"});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->task_id, "task-0");
  ASSERT_EQ(broker_.enqueues.size(), 5u);
  EXPECT_EQ(broker_.enqueues[0].request_id().size(), 32u);
  for (const auto& request : broker_.enqueues) {
    EXPECT_EQ(request.request_id(), broker_.enqueues[0].request_id());
  }
}

TEST_F(ClientTest, ATokenGoesWithEachCallAndStaysSecret) {
  ASSERT_TRUE(Connected({.token = "skt_x"}).Enqueue("q", {}).ok());
  EXPECT_EQ(broker_.authorization, "Bearer skt_x");
  ASSERT_TRUE(Connected().Enqueue("q", {}).ok());
  EXPECT_EQ(broker_.authorization, "");
  for (const std::string& token : {std::string("a b"), std::string("a\n"), std::string("\xc3")}) {
    ClientOptions options{.token = token};
    options.addresses = {broker_.address()};
    EXPECT_EQ(Client::Connect(options).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(ClientTest, ATokenNeedsTlsUnlessItStaysOnThisMachine) {
  ClientOptions options{.token = "skt_x"};
  for (const char* address : {"broker.example:7070", "10.0.0.1:7070", "[2001:db8::1]:7070"}) {
    options.addresses = {"127.0.0.1:7070", address};
    options.tls.enabled = false;
    EXPECT_THAT(Client::Connect(options).status().message(), testing::HasSubstr("TLS"));
    options.tls.enabled = true;
    EXPECT_TRUE(Client::Connect(options).ok()) << address;
  }
  options.tls.enabled = false;
  options.addresses = {"127.0.0.1:1", "localhost:1", "[::1]:1"};
  EXPECT_TRUE(Client::Connect(options).ok());
}

TEST_F(ClientTest, AnActorThatCannotBeSentIsRefused) {
  ASSERT_TRUE(Connected({.actor = "ann@host"}).Enqueue("q", {}).ok());
  for (const std::string& actor : {std::string("ann\n"), std::string("\xc3\xa4"),
                                   std::string(256, 'a')}) {
    EXPECT_EQ(Client::Connect({.actor = actor}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(ClientTest, EachEnqueueHasARequestIdOfItsOwn) {
  Client client = Connected();
  ASSERT_TRUE(client.Enqueue("q", {}).ok());
  ASSERT_TRUE(client.Enqueue("q", {}).ok());
  EXPECT_NE(broker_.enqueues[0].request_id(), broker_.enqueues[1].request_id());
}

TEST_F(ClientTest, TheCallersRequestIdIsKept) {
  ASSERT_TRUE(Connected().Enqueue({.queue = "q", .tasks = {{}}, .request_id = "mine"}).ok());
  EXPECT_EQ(broker_.enqueues[0].request_id(), "mine");
}

TEST_F(ClientTest, EnqueueWithoutRequestIdIsSentOnce) {
  broker_.FailNext("Enqueue", 1, kUnavailable);
  const auto result =
      Connected().Enqueue({.queue = "q", .tasks = {{}}, .without_request_id = true});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable);
  ASSERT_EQ(broker_.enqueues.size(), 1u);
  EXPECT_EQ(broker_.enqueues[0].request_id(), "");
}

TEST_F(ClientTest, ARefusalIsNotRepeatedAndCarriesItsReason) {
  broker_.FailNext("Enqueue", 1, Refusal("INVALID_FIELD", "tasks[0].priority"));
  const auto result = Connected().Enqueue("q", {});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorReason(result.status()), "INVALID_FIELD");
  EXPECT_EQ(ErrorField(result.status()), "tasks[0].priority");
  EXPECT_EQ(broker_.enqueues.size(), 1u);
}

TEST_F(ClientTest, ACallThatHasNoRoomIsRepeatedAndNothingMakesThatUnsafe) {
  for (const bool without_request_id : {false, true}) {
    broker_.enqueues.clear();
    broker_.FailNext("Enqueue", 2, NoRoom("TOO_MANY_CALLS", absl::Milliseconds(1)));
    const auto result = Connected().Enqueue(
        {.queue = "q", .tasks = {{}}, .without_request_id = without_request_id});
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(broker_.enqueues.size(), 3u);
  }
}

TEST_F(ClientTest, WhatCannotHaveRoomBeforeTheDeadlineFailsAtOnceAndSaysWhen) {
  broker_.FailNext("Enqueue", 1, NoRoom("DATABASE_FULL", absl::Hours(1)));
  const auto result = Connected().Enqueue("q", {});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorReason(result.status()), "DATABASE_FULL");
  EXPECT_EQ(RetryDelay(result.status()), absl::Hours(1));
  EXPECT_EQ(broker_.enqueues.size(), 1u);
}

TEST_F(ClientTest, ExhaustionThatNoBrokerSpeaksOfIsNotRepeated) {
  broker_.FailNext("Enqueue", 1, grpc::Status(grpc::RESOURCE_EXHAUSTED, "larger than max"));
  const auto result = Connected().Enqueue("q", {});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(RetryDelay(result.status()), std::nullopt);
  EXPECT_EQ(broker_.enqueues.size(), 1u);
}

TEST_F(ClientTest, APauseIsNoShorterThanTheBrokerAsksFor) {
  const auto connection = *internal::Connection::Open({.backoff = absl::Milliseconds(1)});
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration pause = connection->PauseAfter(1, absl::Seconds(10));
    ASSERT_GE(pause, absl::Seconds(10));
    ASSERT_LE(pause, absl::Seconds(15));
    ASSERT_LE(connection->PauseAfter(1), absl::Milliseconds(1));
  }
}

TEST_F(ClientTest, ACallIsGivenUpAfterTheLastAttempt) {
  broker_.FailNext("Enqueue", 100, kUnavailable);
  const auto result = Connected({.max_attempts = 3}).Enqueue("q", {});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrorReason(result.status()), "");
  EXPECT_EQ(broker_.enqueues.size(), 3u);
}

TEST_F(ClientTest, LeaseIsRepeatedUnderTheSameRequestId) {
  broker_.FailNext("Lease", 1, kUnavailable);
  broker_.AddTask("a");
  const auto answer = Connected().Lease({.queues = {{.name = "q"}}, .max_tasks = 7});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->tasks.size(), 1u);
  EXPECT_EQ(answer->tasks[0].payload, "payload-a");
  ASSERT_EQ(broker_.leases.size(), 2u);
  EXPECT_EQ(broker_.leases[0].request_id().size(), 32u);
  EXPECT_EQ(broker_.leases[0].request_id(), broker_.leases[1].request_id());
  EXPECT_EQ(broker_.leases[0].worker_id().size(), 32u);
  EXPECT_EQ(broker_.leases[0].worker_id(), broker_.leases[1].worker_id());
  EXPECT_EQ(broker_.leases[1].max_tasks(), 7);
}

TEST_F(ClientTest, ALeaseKeepsTheIdsThatItsCallerGave) {
  Client client = Connected();
  ASSERT_TRUE(client.Lease({.queues = {{.name = "q"}}, .worker_id = "w"}).ok());
  ASSERT_TRUE(client.Lease({.queues = {{.name = "q"}}, .request_id = "r"}).ok());
  ASSERT_EQ(broker_.leases.size(), 2u);
  EXPECT_EQ(broker_.leases[0].worker_id(), "w");
  EXPECT_EQ(broker_.leases[0].request_id().size(), 32u);
  EXPECT_EQ(broker_.leases[1].worker_id(), "");
  EXPECT_EQ(broker_.leases[1].request_id(), "r");
}

TEST_F(ClientTest, ACallEndsAtItsDeadline) {
  LeaseCall call{.queues = {{.name = "q"}}, .wait = absl::Seconds(1)};
  call.timeout = absl::Milliseconds(1);
  EXPECT_EQ(Connected().Lease(call).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ClientTest, ACancelledCallEnds) {
  std::promise<absl::Status> ended;
  PendingCall call = Connected().LeaseAsync(
      {.queues = {{.name = "q"}}, .wait = absl::Seconds(60)},
      [&ended](absl::StatusOr<LeaseAnswer> answer) { ended.set_value(answer.status()); });
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 1; }));
  call.Cancel();
  EXPECT_EQ(ended.get_future().get().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(broker_.WaitUntil([this] { return broker_.parked == 0; }));
}

TEST_F(ClientTest, ACallIsCancelledWhileItPauses) {
  broker_.FailNext("Enqueue", 1, kUnavailable);
  auto client = Client::Connect({.addresses = {broker_.address()},
                                 .call_timeout = absl::Hours(10),
                                 .backoff = absl::Hours(1),
                                 .max_backoff = absl::Hours(1)});
  std::promise<absl::Status> ended;
  PendingCall call = client->EnqueueAsync(
      {.queue = "q", .tasks = {{}}},
      [&ended](auto results) { ended.set_value(results.status()); });
  ASSERT_TRUE(broker_.WaitUntil([this] { return broker_.enqueues.size() == 1; }));
  call.Cancel();
  const absl::Status status = ended.get_future().get();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(broker_.enqueues.size(), 1u);
}

TEST_F(ClientTest, AnAnswerWithoutAResultPerItemIsAnError) {
  broker_.AnswerNothing();
  Client client = Connected();
  EXPECT_EQ(client.Ack({"t"}).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(client.Enqueue("q", {}).status().code(), absl::StatusCode::kInternal);
}

TEST_F(ClientTest, AnotherBrokerTakesTheCallsOfOneThatIsGone) {
  FakeBroker gone;
  auto client = Client::Connect({.addresses = {gone.address(), broker_.address()},
                                 .backoff = absl::Milliseconds(1)});
  gone.Shutdown();
  for (int i = 0; i < 10; ++i) {
    const auto result = client->Enqueue("q", {});
    ASSERT_TRUE(result.ok()) << result.status();
  }
  EXPECT_EQ(broker_.enqueues.size(), 10u);
}

TEST_F(ClientTest, ClientsDoNotAllBeginAtTheFirstAddress) {
  FakeBroker other;
  for (int i = 0; i < 60; ++i) {  // all at one of them: once in 2^59 times
    auto client = Client::Connect({.addresses = {broker_.address(), other.address()}});
    ASSERT_TRUE(client->Enqueue({.queue = "q", .tasks = {{}}, .without_request_id = true}).ok());
  }
  EXPECT_FALSE(broker_.enqueues.empty());
  EXPECT_FALSE(other.enqueues.empty());
}

// The call has the last hold on the connection, and lets it go on one of gRPC's own threads.
TEST(ClientWithoutBrokerTest, ACallEndsThoughItsClientIsGone) {
  for (int i = 0; i < 100; ++i) {
    std::promise<absl::Status> ended;
    Client::Connect({.addresses = {"127.0.0.1:1"}, .max_attempts = 1})
        ->EnqueueAsync({.queue = "q", .tasks = {{}}},
                       [&ended](auto results) { ended.set_value(results.status()); });
    EXPECT_EQ(ended.get_future().get().code(), absl::StatusCode::kUnavailable);
  }
}

TEST_F(ClientTest, ATaskWithTwoStartsIsRefusedHere) {
  const auto result = Connected().Enqueue(
      "q", {.schedule_time = absl::FromUnixSeconds(1), .delay = absl::Seconds(1)});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(broker_.enqueues.empty());
}

TEST_F(ClientTest, ALeaseHandleSettlesItsTask) {
  Client client = Connected();
  broker_.AddTask("a");
  auto lease = client.LeaseOne("q", absl::ZeroDuration());
  ASSERT_TRUE(lease.ok() && lease->has_value());
  EXPECT_EQ((*lease)->task().task_id, "a");
  const auto outcome = std::move(**lease).Ack();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(*outcome, SettleOutcome::kSettled);
  EXPECT_EQ(broker_.acked.count("token-a"), 1u);

  broker_.AddTask("b");
  auto second = client.LeaseOne("q", absl::ZeroDuration());
  const auto retried = std::move(**second).Retry({.type = "T"}, absl::Seconds(7));
  ASSERT_TRUE(retried.ok()) << retried.status();
  EXPECT_EQ(broker_.nacked["token-b"].retry_delay().seconds(), 7);
  EXPECT_EQ(broker_.nacked["token-b"].error().type(), "T");

  const auto none = client.LeaseOne("q", absl::ZeroDuration());
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

template <typename Handle>
concept AckableTwice = requires(Handle& handle) { handle.Ack(); };
static_assert(!AckableTwice<TaskLease>);
static_assert(!std::is_copy_constructible_v<TaskLease>);

TEST(ConnectTest, OptionsOutOfRangeAreRefused) {
  const auto code = [](ClientOptions options) { return Client::Connect(options).status().code(); };
  EXPECT_EQ(code({}), absl::StatusCode::kOk);
  EXPECT_EQ(code({.addresses = {}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.addresses = {""}}), absl::StatusCode::kInvalidArgument);
  for (const char* const address : {"a:0", "a:65536", "a:x", "a:", "[::1]:70000", "https://a"}) {
    EXPECT_EQ(code({.addresses = {address}}), absl::StatusCode::kInvalidArgument) << address;
  }
  for (const char* const address : {"a:1", "[::1]:65535", "dns:///a:1", "unix:/run/a", "a"}) {
    EXPECT_EQ(code({.addresses = {address}}), absl::StatusCode::kOk) << address;
  }
  EXPECT_EQ(code({.max_attempts = 0}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.max_attempts = 6}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.call_timeout = absl::ZeroDuration()}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.backoff = absl::Minutes(1)}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.tls = {.enabled = true, .ca_file = "/no/such/file"}}),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(code({.tls = {.enabled = true, .ca_file = "/"}}), absl::StatusCode::kNotFound);
  EXPECT_EQ(code({.tls = {.enabled = true, .key_file = "/no/such/file"}}),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace skiplane
