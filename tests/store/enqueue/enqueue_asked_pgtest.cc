// Request ids: of calls without keys, and of calls of both kinds in one table.
#include <map>
#include <thread>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "server/model/request_key.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using testing::KeyedTask;
using testing::Required;
using testing::StatusIs;
using testing::TaskIn;

class EnqueueAskedTest : public testing::StoreHarness {
 protected:
  // A call with its rows, which point to its tasks.
  struct Call {
    std::vector<model::NewTask> tasks;
    std::vector<TaskRow> rows;
    RequestRow request;

    int64_t first() const { return request.first_id; }
  };

  std::unique_ptr<Call> CallOf(const std::string& request_id,
                               std::vector<model::NewTask> tasks = std::vector<model::NewTask>(2)) {
    auto call = std::make_unique<Call>(Call{std::move(tasks), {}, {}});
    call->rows = Rows(call->tasks);
    const int64_t first = call->rows.front().id.id;
    for (TaskRow& row : call->rows) row.call = first;
    call->request = {lane_, request_id, "\x01\x02hash of all that the call says", first};
    return call;
  }

  Enqueued Ask(const Call& call) {
    return Required(EnqueueAsked(*session_, call.rows, {call.request}));
  }

  AnsweredRequest AnswerTo(const std::string& request_id) {
    return Required(AnsweredRequests(*session_, lane_, {request_id})).at(request_id);
  }

  int64_t Tasks() const { return Number("SELECT count(*) FROM skiplane.task"); }

  // Runs `first` in a transaction that ends as `end` says when `second` waits for it.
  Enqueued Overlap(const Call& first, const Call& second, const char* end) {
    const auto early = Open();
    const auto late = Open();
    Required(early->RunText("BEGIN"));
    Required(EnqueueAsked(*early, first.rows, {first.request}));
    absl::StatusOr<Enqueued> made;
    std::thread waiter([&] { made = EnqueueAsked(*late, second.rows, {second.request}); });
    WaitUntilBlocked(*late);
    Required(early->RunText(end));
    waiter.join();
    return Required(std::move(made));
  }

  // As version 1 of the schema left it.
  void AnswerBefore(const Call& call) const {
    Sql("ALTER TABLE skiplane.enqueue_request DISABLE TRIGGER share_request_id");
    Sql(absl::StrCat("INSERT INTO skiplane.enqueue_request SELECT ", lane_, ", '",
                     call.request.request_id, "', '\\x0102", std::string(60, '0'), "', 4711, ",
                     "now() - interval '1 hour'"));
    Sql("ALTER TABLE skiplane.enqueue_request ENABLE TRIGGER share_request_id");
  }
};

TEST_F(EnqueueAskedTest, ACallMakesItsTasksAndIsRemembered) {
  const auto call = CallOf("r", {model::NewTask(), TaskIn(absl::Minutes(5))});
  const Enqueued enqueued = Ask(*call);
  EXPECT_THAT(enqueued.made, UnorderedElementsAre(call->first(), call->first() + 1));
  ASSERT_EQ(enqueued.unleased.size(), 2u);
  EXPECT_EQ(enqueued.unleased[0].count + enqueued.unleased[1].count, 2);
  EXPECT_NE(enqueued.unleased[0].is_ready, enqueued.unleased[1].is_ready);
  EXPECT_LE(enqueued.began, enqueued.now);
  const AnsweredRequest answer = AnswerTo("r");
  EXPECT_EQ(answer.first_id, call->first());
  EXPECT_EQ(answer.began, enqueued.began);
  EXPECT_EQ(answer.body_hash, model::LeadingInt64(call->request.body_hash));
  EXPECT_THAT(Required(AnsweredRequests(*session_, lane_ + 1, {"r"})), IsEmpty());
}

TEST_F(EnqueueAskedTest, TheDatabaseComputesTheSameKey) {
  for (const std::string id : {"r", "12345678", "a longer id, \u00fcber alles", ""}) {
    const model::RequestKey key = model::RequestKeyOf(lane_, id);
    EXPECT_EQ(Number(absl::StrCat("SELECT skiplane.leading_bigint(convert_to('", id,
                                  "', 'UTF8'))")),
              key.head);
    const auto rows = Required(session_->RunText(
        absl::StrCat("SELECT skiplane.request_hash(", lane_, ", '", id, "')::text")));
    std::string hex;
    for (const uint8_t byte : key.hash) absl::StrAppend(&hex, absl::Hex(byte, absl::kZeroPad2));
    EXPECT_EQ(absl::StrReplaceAll(rows.Text(0, 0), {{"-", ""}}), hex);
  }
}

TEST_F(EnqueueAskedTest, ARepeatMakesNothing) {
  const auto first = CallOf("r");
  Ask(*first);
  const Enqueued repeated = Ask(*CallOf("r"));
  EXPECT_THAT(repeated.made, IsEmpty());
  EXPECT_THAT(repeated.unleased, IsEmpty());
  EXPECT_NE(repeated.began, absl::Time());
  EXPECT_EQ(Tasks(), 2);
  EXPECT_EQ(AnswerTo("r").first_id, first->first());
}

TEST_F(EnqueueAskedTest, OneBatchOfSeveralLanesHoldsNewKnownAndNamelessCalls) {
  const auto known = CallOf("a");
  Ask(*known);
  const auto again = CallOf("a");
  const auto fresh = CallOf("b");
  const auto nameless = CallOf("");
  for (TaskRow& row : nameless->rows) row.call = 0;
  const int64_t lane = lane_;
  lane_ = MakeLane("other");
  const auto elsewhere = CallOf("a", std::vector<model::NewTask>(3));
  fresh->rows[1].id.lane = lane_;  // of a call of several queues
  std::vector<TaskRow> rows;
  for (const Call* const call : {again.get(), fresh.get(), nameless.get(), elsewhere.get()}) {
    rows.insert(rows.end(), call->rows.begin(), call->rows.end());
  }
  const Enqueued enqueued = Required(
      EnqueueAsked(*session_, rows, {again->request, fresh->request, elsewhere->request}));
  EXPECT_EQ(enqueued.made.size(), 7u);
  for (const TaskRow& row : again->rows) EXPECT_FALSE(enqueued.made.contains(row.id.id));
  std::map<int64_t, int64_t> counts;
  for (const UnleasedTasks& group : enqueued.unleased) counts[group.lane] += group.count;
  EXPECT_THAT(counts, UnorderedElementsAre(Pair(lane, 3), Pair(lane_, 4)));
  EXPECT_EQ(Tasks(), 2 + 7);
}

TEST_F(EnqueueAskedTest, OfOneIdTwiceInABatchTheFirstIsMade) {
  const auto first = CallOf("r");
  const auto second = CallOf("r");
  std::vector<TaskRow> rows = first->rows;
  rows.insert(rows.end(), second->rows.begin(), second->rows.end());
  const Enqueued enqueued =
      Required(EnqueueAsked(*session_, rows, {first->request, second->request}));
  EXPECT_THAT(enqueued.made, UnorderedElementsAre(first->first(), first->first() + 1));
}

TEST_F(EnqueueAskedTest, OfTwoSessionsTheSecondWaitsAndMakesNothing) {
  const auto first = CallOf("r");
  EXPECT_THAT(Overlap(*first, *CallOf("r"), "COMMIT").made, IsEmpty());
  EXPECT_EQ(AnswerTo("r").first_id, first->first());
}

TEST_F(EnqueueAskedTest, AnIdWhoseCallWasRolledBackIsFree) {
  const auto second = CallOf("r");
  EXPECT_EQ(Overlap(*CallOf("r"), *second, "ROLLBACK").made.size(), 2u);
  EXPECT_EQ(AnswerTo("r").first_id, second->first());
}

TEST_F(EnqueueAskedTest, CallsWithKeysAndWithoutShareTheirIds) {
  const auto plain = CallOf("plain");
  Ask(*plain);
  const auto keyed = CallOf("keyed", {KeyedTask("k")});
  EXPECT_EQ(Required(EnqueueOnce(*session_, keyed->rows, {keyed->request})).made.size(), 1u);
  const auto other = CallOf("plain", {KeyedTask("l")});
  EXPECT_THAT(Required(EnqueueOnce(*session_, other->rows, {other->request})).made, IsEmpty());
  EXPECT_THAT(Ask(*CallOf("keyed")).made, IsEmpty());
  EXPECT_EQ(AnswerTo("keyed").first_id, keyed->first());
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.answered_request"), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.enqueue_request"), 0);
}

TEST_F(EnqueueAskedTest, ACallThatIsRefusedForItsKeyMayBeRepeated) {
  PutOne(KeyedTask("k"));
  std::vector<model::NewTask> tasks = {KeyedTask("k"), KeyedTask("l")};
  for (model::NewTask& task : tasks) task.key_policy = model::KeyPolicy::kReject;
  const auto refused = CallOf("r", tasks);
  EXPECT_THAT(EnqueueOnce(*session_, refused->rows, {refused->request}),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(Required(AnsweredRequests(*session_, lane_, {"r"})), IsEmpty());
  const auto free = CallOf("r", {tasks[1]});
  EXPECT_EQ(Required(EnqueueOnce(*session_, free->rows, {free->request})).made.size(), 1u);
  const auto again = CallOf("r", {tasks[1]});
  EXPECT_THAT(Required(EnqueueOnce(*session_, again->rows, {again->request})).made, IsEmpty());
}

TEST_F(EnqueueAskedTest, ABadRowLeavesNoId) {
  const auto call = CallOf("r");
  call->rows[1].max_attempts = 0;
  EXPECT_FALSE(EnqueueAsked(*session_, call->rows, {call->request}).ok());
  EXPECT_THAT(Required(AnsweredRequests(*session_, lane_, {"r"})), IsEmpty());
  call->rows[1].max_attempts = 1;
  EXPECT_EQ(Ask(*call).made.size(), 2u);
}

TEST_F(EnqueueAskedTest, WhatWasAnsweredBeforeTheTableCameIsKnown) {
  const auto plain = CallOf("plain");
  const auto keyed = CallOf("keyed", {KeyedTask("k")});
  AnswerBefore(*plain);
  AnswerBefore(*keyed);
  EXPECT_THAT(Ask(*plain).made, IsEmpty());
  EXPECT_THAT(Required(EnqueueOnce(*session_, keyed->rows, {keyed->request})).made, IsEmpty());
  for (const char* const id : {"plain", "keyed"}) {
    EXPECT_EQ(AnswerTo(id).first_id, 4711);
    EXPECT_EQ(AnswerTo(id).body_hash, model::LeadingInt64("\x01\x02"));
  }
  EXPECT_EQ(Tasks(), 0);
}

}  // namespace
}  // namespace skiplane::store
