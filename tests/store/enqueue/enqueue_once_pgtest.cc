#include <thread>

#include "gmock/gmock.h"
#include "server/model/request_key.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using testing::IsOk;
using testing::IsOkAndHolds;
using testing::KeyedTask;
using testing::Required;
using testing::StatusIs;
using testing::TaskIn;
using testing::TaskOf;

using model::TaskState;

auto HeldBy(const std::string& key, int64_t task, TaskState state = TaskState::kReady) {
  return Pair(key, AllOf(Field(&KeyHolder::task, task), Field(&KeyHolder::state, state)));
}

class EnqueueOnceTest : public testing::StoreHarness {
 protected:
  // Three tasks of a call with this request id.
  struct Call {
    std::vector<model::NewTask> tasks = std::vector<model::NewTask>(3);
    std::vector<TaskRow> rows;
    RequestRow request;
  };

  void Fill(Call& call, const std::string& request_id) {
    call.rows = Rows(call.tasks);
    const int64_t first = call.rows.front().id.id;
    for (TaskRow& row : call.rows) row.call = first;
    call.request = {lane_, request_id, std::string("hash\0of", 7), first};
  }

  // Runs `first` in a transaction that stays open until `second`, on another session, waits for it.
  void Overlap(absl::Span<const TaskRow> first, absl::Span<const TaskRow> second,
               const std::vector<RequestRow>& requests_of_first,
               const std::vector<RequestRow>& requests_of_second, const char* end) {
    const auto early = Open();
    const auto late = Open();
    ASSERT_THAT(early->RunText("BEGIN"), IsOk());
    early_ = EnqueueOnce(*early, first, requests_of_first);
    std::thread waiter([&] { late_ = EnqueueOnce(*late, second, requests_of_second); });
    WaitUntilBlocked(*late);
    ASSERT_THAT(early->RunText(end), IsOk());
    waiter.join();
    ASSERT_THAT(early_, IsOk());
    ASSERT_THAT(late_, IsOk());
  }

  absl::StatusOr<Enqueued> early_ = Enqueued();
  absl::StatusOr<Enqueued> late_ = Enqueued();
};

TEST_F(EnqueueOnceTest, AKeyMakesOneTask) {
  const std::vector<model::NewTask> tasks = {KeyedTask("a")};
  const std::vector<TaskRow> first = Rows(tasks);
  const std::vector<TaskRow> second = Rows(tasks);
  EXPECT_THAT(Required(EnqueueOnce(*session_, first, {})).made,
              UnorderedElementsAre(first[0].id.id));
  EXPECT_THAT(Required(EnqueueOnce(*session_, second, {})).made, IsEmpty());
  EXPECT_THAT(HeldKeys(*session_, lane_, {"a", "b"}),
              IsOkAndHolds(UnorderedElementsAre(HeldBy("a", first[0].id.id))));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 1);
}

TEST_F(EnqueueOnceTest, TheCommitTellsWhoHoldsTheKeysOfOthers) {
  const std::vector<model::NewTask> tasks = {KeyedTask("a"), KeyedTask("b")};
  const std::vector<TaskRow> first = Rows(tasks);
  const std::vector<model::NewTask> later = {KeyedTask("a"), KeyedTask("c"), KeyedTask("b")};
  const std::vector<TaskRow> second = Rows(later);
  Required(EnqueueOnce(*session_, first, {}));
  const Enqueued late = Required(EnqueueOnce(*session_, second, {}));
  EXPECT_THAT(late.made, UnorderedElementsAre(second[1].id.id));
  EXPECT_THAT(late.changed, IsEmpty());
  ASSERT_EQ(late.existing.size(), 2u);
  for (size_t i = 0; i < first.size(); ++i) {
    const model::EnqueueResult& result = late.existing.at(second[2 * i].id.id);
    EXPECT_EQ(result.outcome, model::EnqueueOutcome::kExisting);
    EXPECT_EQ(result.id, first[i].id);
    EXPECT_EQ(result.state, TaskState::kReady);
  }
}

TEST_F(EnqueueOnceTest, AKeyIsHeldWhenItsTaskIsFinished) {
  const int64_t id = PutOne(KeyedTask("a"));
  const std::vector<LeasedRow> rows = Take(1);
  EXPECT_EQ(rows.front().task.key, "a");
  EXPECT_EQ(Settle(testing::TokensOf(rows), Action::kAck), 1u);
  PutOne(KeyedTask("a"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
  EXPECT_THAT(HeldKeys(*session_, lane_, {"a"}),
              IsOkAndHolds(UnorderedElementsAre(HeldBy("a", id, TaskState::kSucceeded))));
}

TEST_F(EnqueueOnceTest, AKeyTellsTheStateOfItsTaskAndWhenItEnded) {
  const auto holder = [this] { return Required(HeldKeys(*session_, lane_, {"a"})).at("a"); };
  model::NewTask task = TaskIn(absl::Minutes(5));
  task.key = "a";
  PutOne(task);
  EXPECT_EQ(holder().state, TaskState::kScheduled);
  LetTimePass();
  const model::LeaseToken token = TakeOne();
  EXPECT_EQ(holder().state, TaskState::kLeased);
  EXPECT_FALSE(holder().end_time.has_value());
  EXPECT_EQ(Settle({token}, Action::kFail), 1u);
  EXPECT_EQ(holder().state, TaskState::kFailed);
  EXPECT_TRUE(holder().end_time.has_value());
}

TEST_F(EnqueueOnceTest, TheSameKeyInAnotherLaneIsAnotherKey) {
  PutOne(KeyedTask("a"));
  lane_ = MakeLane("other");
  PutOne(KeyedTask("a"));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 2);
}

TEST_F(EnqueueOnceTest, OfEqualKeysInOneCallTheFirstIsMade) {
  const std::vector<model::NewTask> tasks = {TaskOf("plain"), KeyedTask("b"), KeyedTask("a"),
                                             KeyedTask("b"), KeyedTask("a")};
  const std::vector<TaskRow> rows = Rows(tasks);
  const Enqueued enqueued = Required(EnqueueOnce(*session_, rows, {}));
  EXPECT_THAT(enqueued.made,
              UnorderedElementsAre(rows[0].id.id, rows[1].id.id, rows[2].id.id));
  EXPECT_EQ(enqueued.unleased.front().count, 3);
}

TEST_F(EnqueueOnceTest, TimesAreThoseOfPlainEnqueue) {
  std::vector<model::NewTask> tasks = {TaskIn(absl::Minutes(5)), TaskOf("")};
  tasks[0].key = "later";
  tasks[1].key = "now";
  tasks[1].schedule_time = absl::UnixEpoch();
  const Enqueued enqueued = Required(EnqueueOnce(*session_, Rows(tasks), {}));
  ASSERT_EQ(enqueued.unleased.size(), 2u);
  EXPECT_FALSE(enqueued.unleased[0].is_ready);
  EXPECT_TRUE(enqueued.unleased[1].is_ready);
  EXPECT_LE(enqueued.unleased[1].schedule_time, enqueued.now);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE key = 'later' AND "
                   "schedule_time - create_time = interval '5 minutes' AND "
                   "due = ceil(date_part('epoch', schedule_time) / 10)"),
            1);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task WHERE schedule_time = create_time "
                   "AND due = 0"), 1);
}

TEST_F(EnqueueOnceTest, OfTwoSessionsWithOneKeyTheSecondWaitsAndMakesNothing) {
  const std::vector<model::NewTask> tasks = {KeyedTask("a")};
  const std::vector<TaskRow> first = Rows(tasks);
  const std::vector<TaskRow> second = Rows(tasks);
  Overlap(first, second, {}, {}, "COMMIT");
  EXPECT_THAT(early_->made, UnorderedElementsAre(first[0].id.id));
  EXPECT_THAT(late_->made, IsEmpty());
  EXPECT_THAT(HeldKeys(*session_, lane_, {"a"}),
              IsOkAndHolds(UnorderedElementsAre(HeldBy("a", first[0].id.id))));
}

TEST_F(EnqueueOnceTest, AKeyWhoseCallWasRolledBackIsFree) {
  const std::vector<model::NewTask> tasks = {KeyedTask("a")};
  const std::vector<TaskRow> first = Rows(tasks);
  const std::vector<TaskRow> second = Rows(tasks);
  Overlap(first, second, {}, {}, "ROLLBACK");
  EXPECT_THAT(late_->made, UnorderedElementsAre(second[0].id.id));
}

TEST_F(EnqueueOnceTest, ARepeatedRequestMakesNothing) {
  Call first, second;
  Fill(first, "r1");
  Fill(second, "r1");
  const Enqueued made = Required(EnqueueOnce(*session_, first.rows, {first.request}));
  EXPECT_EQ(made.made.size(), 3u);
  const Enqueued repeated = Required(EnqueueOnce(*session_, second.rows, {second.request}));
  EXPECT_THAT(repeated.made, IsEmpty());
  EXPECT_THAT(repeated.unleased, IsEmpty());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 3);
  const auto answered = Required(AnsweredRequests(*session_, lane_, {"r1", "r2"}));
  ASSERT_EQ(answered.size(), 1u);
  EXPECT_EQ(answered.at("r1").body_hash, model::LeadingInt64(first.request.body_hash));
  EXPECT_EQ(answered.at("r1").first_id, first.request.first_id);
  EXPECT_EQ(answered.at("r1").began, made.began);
}

TEST_F(EnqueueOnceTest, OneBatchHoldsNewAndRepeatedCalls) {
  Call first, again, fresh;
  Fill(first, "r1");
  ASSERT_THAT(EnqueueOnce(*session_, first.rows, {first.request}), IsOk());
  Fill(again, "r1");
  Fill(fresh, "r2");
  const std::vector<model::NewTask> plain(1);
  std::vector<TaskRow> rows = again.rows;
  rows.insert(rows.end(), fresh.rows.begin(), fresh.rows.end());
  rows.push_back(Rows(plain).front());
  const Enqueued enqueued = Required(EnqueueOnce(*session_, rows, {again.request, fresh.request}));
  EXPECT_THAT(enqueued.made, UnorderedElementsAre(rows[3].id.id, rows[4].id.id, rows[5].id.id,
                                                  rows[6].id.id));
}

TEST_F(EnqueueOnceTest, OfTwoSessionsWithOneRequestTheSecondWaitsAndMakesNothing) {
  Call first, second;
  Fill(first, "r1");
  Fill(second, "r1");
  Overlap(first.rows, second.rows, {first.request}, {second.request}, "COMMIT");
  EXPECT_EQ(early_->made.size(), 3u);
  EXPECT_THAT(late_->made, IsEmpty());
  EXPECT_EQ(Required(AnsweredRequests(*session_, lane_, {"r1"})).at("r1").first_id,
            first.request.first_id);
}

TEST_F(EnqueueOnceTest, ABadRowLeavesNeitherKeyNorRequest) {
  Call call;
  call.tasks[0].key = "a";
  Fill(call, "r1");
  call.rows[2].max_attempts = 0;
  EXPECT_FALSE(EnqueueOnce(*session_, call.rows, {call.request}).ok());
  EXPECT_THAT(HeldKeys(*session_, lane_, {"a"}), IsOkAndHolds(IsEmpty()));
  EXPECT_TRUE(Required(AnsweredRequests(*session_, lane_, {"r1"})).empty());
  call.rows[2].max_attempts = 1;
  EXPECT_EQ(Required(EnqueueOnce(*session_, call.rows, {call.request})).made.size(), 3u);
}

TEST_F(EnqueueOnceTest, AnIdThatIsTakenIsADefectAndNotARepetition) {
  const std::vector<model::NewTask> tasks = {KeyedTask("a")};
  std::vector<TaskRow> rows = Rows(tasks);
  rows[0].id.id = PutOne();
  EXPECT_THAT(EnqueueOnce(*session_, rows, {}), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(HeldKeys(*session_, lane_, {"a"}), IsOkAndHolds(IsEmpty()));
}

}  // namespace
}  // namespace skiplane::store
