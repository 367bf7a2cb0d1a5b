// User code that takes a role is given a mock, an InMemoryBroker or a Client alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

#include "skiplane/testing.h"
#include "skiplane/worker.h"

namespace skiplane {
namespace {

using testing::_;
using testing::Eq;
using testing::Field;
using testing::Return;

using Results = std::vector<EnqueueResult>;
using Settled = absl::StatusOr<std::vector<SettleResult>>;

class MockProducer : public Producer {
 public:
  MOCK_METHOD(absl::StatusOr<EnqueueResult>, Enqueue, (absl::string_view, NewTask), (override));
  MOCK_METHOD(absl::StatusOr<Results>, Enqueue, (EnqueueCall), (override));
  MOCK_METHOD(PendingCall, EnqueueAsync, (EnqueueCall, Done<Results>), (override));
  MOCK_METHOD(absl::StatusOr<Task>, GetTask, (absl::string_view), (override));
  MOCK_METHOD(absl::StatusOr<Task>, GetTask, (GetTaskCall), (override));
};

class MockLeaser : public Leaser {
 public:
  MOCK_METHOD(absl::StatusOr<LeaseAnswer>, Lease, (LeaseCall), (override));
  MOCK_METHOD(Settled, Ack, (std::vector<AckItem>), (override));
  MOCK_METHOD(Settled, Nack, (std::vector<NackItem>), (override));
  MOCK_METHOD(Settled, Settle, (std::vector<SettleItem>), (override));
  MOCK_METHOD(absl::StatusOr<SettleAndLeaseAnswer>, SettleAndLease,
              (std::vector<SettleItem>, LeaseCall), (override));
  MOCK_METHOD(absl::StatusOr<HeartbeatAnswer>, Heartbeat, (HeartbeatCall), (override));
};

class MockQueueAdmin : public QueueAdmin {
 public:
  using Text = absl::string_view;
  MOCK_METHOD(absl::StatusOr<Queue>, CreateQueue, (Text), (override));
  MOCK_METHOD(absl::StatusOr<Queue>, CreateQueue, (Text, const QueueSettings&, int), (override));
  MOCK_METHOD(absl::StatusOr<Queue>, GetQueue, (Text), (override));
  MOCK_METHOD(absl::StatusOr<std::vector<Queue>>, ListQueues, (), (override));
  MOCK_METHOD(absl::StatusOr<Queue>, UpdateQueue, (Text, const QueueSettings&, Text), (override));
  MOCK_METHOD(absl::StatusOr<Queue>, PauseQueue, (Text, PauseMode, Text), (override));
  MOCK_METHOD(absl::StatusOr<Queue>, ResumeQueue, (Text), (override));
};

class MockWorker : public RunningWorker {
 public:
  MOCK_METHOD(void, Stop, (), (override));
  MOCK_METHOD(void, EndGrace, (), (override));
  MOCK_METHOD(absl::Status, WaitForEnd, (), (override));
  MOCK_METHOD(WorkerCounts, counts, (), (const, override));
};

class MockStarter : public WorkerStarter {
 public:
  MOCK_METHOD(absl::StatusOr<std::unique_ptr<RunningWorker>>, StartWorker,
              (WorkerOptions, Handler), (override));
};

absl::Status PlaceOrder(Producer& producer) {
  return producer.Enqueue("mail", {.payload = "hello"}).status();
}

TEST(RolesTest, AProducerIsMocked) {
  MockProducer producer;
  EXPECT_CALL(producer, Enqueue(Eq("mail"), Field(&NewTask::payload, "hello")))
      .WillOnce(Return(EnqueueResult{.task_id = "1"}))
      .WillOnce(Return(absl::UnavailableError("away")));
  EXPECT_TRUE(PlaceOrder(producer).ok());
  EXPECT_TRUE(absl::IsUnavailable(PlaceOrder(producer)));
}

TEST(RolesTest, TheOtherRolesAreMocked) {
  MockLeaser leaser;
  EXPECT_CALL(leaser, Lease(_)).WillOnce(Return(LeaseAnswer{}));
  EXPECT_TRUE(leaser.Lease({}).ok());
  MockQueueAdmin admin;
  EXPECT_CALL(admin, CreateQueue(Eq("mail"))).WillOnce(Return(Queue{.name = "mail"}));
  EXPECT_EQ(admin.CreateQueue("mail")->name, "mail");
  MockStarter starter;
  EXPECT_CALL(starter, StartWorker(_, _)).WillOnce([](auto, auto) {
    auto worker = std::make_unique<MockWorker>();
    EXPECT_CALL(*worker, WaitForEnd()).WillOnce(Return(absl::OkStatus()));
    return absl::StatusOr<std::unique_ptr<RunningWorker>>(std::move(worker));
  });
  EXPECT_TRUE((*starter.StartWorker({}, nullptr))->WaitForEnd().ok());
}

// Nobody listens there.
Client Lonely() {
  return *Client::Connect({.addresses = {"unix:/no/such/socket"},
                           .max_attempts = 1,
                           .backoff = absl::Milliseconds(1)});
}

TEST(RolesTest, AClientIsEachOfThem) {
  Client client = Lonely();
  EXPECT_TRUE(absl::IsUnavailable(PlaceOrder(client)));
  Leaser& leaser = client;
  EXPECT_TRUE(absl::IsUnavailable(leaser.Ack({{.lease_token = "t"}}).status()));
  QueueAdmin& admin = client;
  EXPECT_TRUE(absl::IsUnavailable(admin.ListQueues().status()));
}

TEST(RolesTest, AClientStartsWorkers) {
  Client client = Lonely();
  WorkerStarter& starter = client;
  const auto refused = starter.StartWorker({}, nullptr);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  const auto worker = starter.StartWorker(
      {.queues = {{.name = "q"}}, .max_tasks = 1},
      [](const LeasedTask&, Attempt&) { return Result::Done(); });
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_NE(dynamic_cast<Worker*>(worker->get()), nullptr);
  EXPECT_EQ((*worker)->counts().done, 0);
}

TEST(RolesTest, AClientIsStillAHandleThatIsCopiedAndMoved) {
  static_assert(std::is_nothrow_move_constructible_v<Client>);
  static_assert(std::is_copy_assignable_v<Client>);
  static_assert(!std::is_copy_constructible_v<Worker>);
  Client client = Lonely();
  const Client copy = client;
  client = copy;
  EXPECT_TRUE(absl::IsUnavailable(PlaceOrder(client)));
}

}  // namespace
}  // namespace skiplane
