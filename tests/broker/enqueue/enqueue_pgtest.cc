#include <set>

#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using EnqueueTest = BrokerHarness;

model::NewTask Keyed(const std::string& key) {
  model::NewTask task = Payload("p");
  task.key = key;
  return task;
}

TEST_F(EnqueueTest, IdsComeInTheOrderOfTheCall) {
  const auto results = Enqueue({Payload("a"), Payload("b"), Payload("c")});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_LT(results[0].id.id, results[1].id.id);
  EXPECT_EQ(Sql("SELECT encode(payload, 'escape') FROM skiplane.task WHERE id = " +
                std::to_string(results[1].id.id)),
            "b");
}

TEST_F(EnqueueTest, AKeyMakesOneTask) {
  const auto first = Enqueue({Keyed("k")});
  const auto second = Enqueue({Keyed("k"), Keyed("l"), Keyed("l")});
  ASSERT_EQ(second.size(), 3u);
  EXPECT_FALSE(first[0].existing());
  EXPECT_TRUE(second[0].existing());
  EXPECT_EQ(second[0].id, first[0].id);
  EXPECT_FALSE(second[1].existing());
  EXPECT_TRUE(second[2].existing());
  EXPECT_EQ(second[2].id, second[1].id);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 2);
}

TEST_F(EnqueueTest, AKeyIsHeldAfterItsTaskWasAcked) {
  const auto first = Enqueue({Keyed("k")});
  EXPECT_EQ(Ack(LeaseOne("w").token), model::SettleOutcome::kSettled);
  const auto second = Enqueue({Keyed("k")});
  EXPECT_TRUE(second[0].existing());
  EXPECT_EQ(second[0].id, first[0].id);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
}

TEST_F(EnqueueTest, ARequestIdMakesOneSetWithTheSameAnswer) {
  const std::vector<model::NewTask> tasks{Payload("a"), Keyed("k"), Payload("b")};
  const auto first = Enqueue(tasks, "r-1");
  const auto again = Enqueue(tasks, "r-1");
  ASSERT_EQ(again.size(), 3u);
  for (size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].id, first[i].id);
    EXPECT_EQ(again[i].existing(), first[i].existing());
  }
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 3);
}

TEST_F(EnqueueTest, ARequestIdWithAnotherBodyIsRefused) {
  Enqueue({Payload("a")}, "r-1");
  Later<std::vector<broker::EnqueueResult>> later;
  broker().Enqueue({"q", {Payload("other")}, "r-1"}, later.done());
  EXPECT_THAT(later.Get(), ReasonIs("REQUEST_ID_REUSED"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 1);
}

TEST_F(EnqueueTest, AllTasksOfARepeatWithKeysOnlyAreTheSame) {
  const auto first = Enqueue({Keyed("k"), Keyed("l")}, "r-2");
  const auto again = Enqueue({Keyed("k"), Keyed("l")}, "r-2");
  EXPECT_EQ(again[1].id, first[1].id);
  EXPECT_FALSE(again[1].existing());
}

TEST_F(EnqueueTest, ConcurrentCallsWithOneRequestIdOverTwoBrokersMakeOneSet) {
  Enqueue({Payload("warm")});
  const auto other = NewBroker();
  std::vector<Later<std::vector<broker::EnqueueResult>>> answers(20);
  for (size_t i = 0; i < answers.size(); ++i) {
    broker::LocalBroker& one = i % 2 == 0 ? broker() : *other;
    one.Enqueue({"q", {Payload("x"), Payload("y")}, "same"}, answers[i].done());
  }
  std::set<int64_t> first_ids;
  for (auto& answer : answers) {
    auto results = answer.Get();
    ASSERT_THAT(results, IsOk());
    first_ids.insert(results->front().id.id);
  }
  EXPECT_EQ(first_ids.size(), 1u);
  EXPECT_EQ(Number("SELECT (SELECT count(*) FROM skiplane.task) +"
                   " (SELECT count(*) FROM skiplane.packed_task)"),
            3);
}

// Acked one by one, packs cost a fifth more of PostgreSQL's work than rows.
TEST_F(EnqueueTest, CallsOfOneTaskAreNotPackedWhereTheyMeet) {
  Enqueue({Payload("makes the queue")});
  const auto lock = Lock("skiplane.task");
  std::vector<Later<std::vector<broker::EnqueueResult>>> answers(60);
  for (auto& answer : answers) broker().Enqueue({"q", {Payload("x")}, ""}, answer.done());
  Required(lock->RunText("COMMIT"));
  for (auto& answer : answers) EXPECT_THAT(answer.Get(), IsOk());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 61);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_pack"), 0);
}

TEST_F(EnqueueTest, ConcurrentCallsWithOneKeyMakeOneTask) {
  const auto other = NewBroker();
  std::vector<Later<std::vector<broker::EnqueueResult>>> answers(40);
  for (size_t i = 0; i < answers.size(); ++i) {
    (i % 2 == 0 ? broker() : *other).Enqueue({"q", {Keyed("one")}, ""}, answers[i].done());
  }
  int created = 0;
  for (auto& answer : answers) {
    auto results = answer.Get();
    ASSERT_THAT(results, IsOk());
    created += results->front().existing() ? 0 : 1;
  }
  EXPECT_EQ(created, 1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 1);
}

TEST_F(EnqueueTest, APayloadAboveTheQueuesLimitIsRefusedAndNothingIsWritten) {
  broker::CreateQueueCall create;
  create.name = "q";
  create.settings.emplace().max_payload_bytes = 3;
  Later<model::Queue> made;
  broker().CreateQueue(std::move(create), made.done());
  ASSERT_THAT(made.Get(), IsOk());
  Later<std::vector<broker::EnqueueResult>> later;
  broker().Enqueue({"q", {Payload("abc"), Payload("abcd")}, ""}, later.done());
  EXPECT_THAT(later.Get(), FieldIs("tasks[1].payload"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
}

TEST_F(EnqueueTest, AnUnknownQueueIsRefusedUnlessQueuesAreCreated) {
  const auto strict = NewBroker(/*create_missing_queues=*/false);
  Later<std::vector<broker::EnqueueResult>> later;
  strict->Enqueue({"nobody", {Payload("x")}, ""}, later.done());
  EXPECT_THAT(later.Get(), ReasonIs("QUEUE_NOT_FOUND"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.queue"), 0);
}

TEST_F(EnqueueTest, LanesKeepKeysUniqueAndCallsTogether) {
  broker::CreateQueueCall create;
  create.name = "q";
  create.lane_count = 4;
  Later<model::Queue> made;
  broker().CreateQueue(std::move(create), made.done());
  ASSERT_THAT(made.Get(), IsOk());
  Enqueue(std::vector<model::NewTask>(50, Payload("x")));
  EXPECT_EQ(Number("SELECT count(DISTINCT lane) FROM skiplane.task_pack"), 1);
  std::vector<model::NewTask> keyed;
  for (int i = 0; i < 50; ++i) keyed.push_back(Keyed(std::to_string(i)));
  const auto first = Enqueue(keyed);
  const auto again = Enqueue(keyed);
  for (size_t i = 0; i < keyed.size(); ++i) EXPECT_EQ(again[i].id, first[i].id);
  EXPECT_GT(Number("SELECT count(DISTINCT lane) FROM skiplane.task WHERE key IS NOT NULL"), 1);
  EXPECT_EQ(Lease(LeaseOf("w", 1000, absl::Seconds(30))).tasks.empty(), false);
}

}  // namespace
}  // namespace skiplane::testing
