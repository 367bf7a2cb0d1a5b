// Tasks that come in packs are leased and acked as others are.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/store/task_change.h"
#include "server/store/task_view.h"
#include "tests/store/pack/pack_harness.h"

namespace skiplane::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::IdsOf;
using testing::kOtherWorker;
using testing::kWorker;
using testing::Required;
using testing::TokensOf;

class PackLeaseTest : public testing::PackHarness {
 protected:
  // No two have the same in any place.
  static std::vector<model::NewTask> Unlike(int count) {
    std::vector<model::NewTask> tasks;
    for (int i = 0; i < count; ++i) {
      model::NewTask& task = tasks.emplace_back(testing::TaskOf(std::string(100 + i % 7, 'x')));
      task.content_type = absl::StrCat("type/", i);
      task.headers = {{"number", absl::StrCat(i)}};
    }
    return tasks;
  }

  static void ExpectAre(const std::vector<LeasedRow>& rows, const std::vector<TaskRow>& made,
                        size_t first) {
    ASSERT_LE(first + rows.size(), made.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const model::LeasedTask& task = rows[i].task;
      EXPECT_EQ(task.token.task.id, made[first + i].id.id);
      EXPECT_EQ(task.payload, made[first + i].task->payload);
      EXPECT_EQ(task.content_type, made[first + i].task->content_type);
      EXPECT_EQ(task.headers, made[first + i].task->headers);
      EXPECT_EQ(task.token.attempt, 1);
    }
  }
};

std::vector<int64_t> Part(const std::vector<int64_t>& ids, size_t from, size_t upto) {
  return {ids.begin() + static_cast<int64_t>(from), ids.begin() + static_cast<int64_t>(upto)};
}

TEST_F(PackLeaseTest, AllThatATaskHasComesWithIt) {
  model::NewTask task;
  task.payload = std::string("a\0b", 3);
  task.content_type = "text/plain";
  task.headers = {{"a", "\"1\\"}, {"b", ""}};
  task.priority = -3;
  const std::vector<int64_t> ids = Pack(20, task);
  const Leased leased = Lease({20});
  ASSERT_THAT(leased.rows, SizeIs(20));
  EXPECT_EQ(IdsOf(leased.rows), ids);
  const model::LeasedTask& got = leased.rows[7].task;
  EXPECT_EQ(got.payload, task.payload);
  EXPECT_EQ(got.content_type, task.content_type);
  EXPECT_EQ(got.headers, task.headers);
  EXPECT_EQ(got.priority, -3);
  EXPECT_EQ(got.max_attempts, 10);
  EXPECT_EQ(got.token.attempt, 1);
  EXPECT_TRUE(got.token.IsPacked());
  EXPECT_EQ(got.token.offset, 7);
  EXPECT_THAT(leased.held_back, IsEmpty());
}

TEST_F(PackLeaseTest, CallersGetNeighbours) {
  const std::vector<int64_t> ids = Pack(128);
  const Leased leased = Lease({50, 30, 40});
  ASSERT_THAT(leased.rows, SizeIs(120));
  for (size_t i = 0; i < 120; ++i) {
    EXPECT_EQ(leased.rows[i].caller, i < 50 ? 0 : i < 80 ? 1 : 2) << i;
    EXPECT_EQ(leased.rows[i].task.token.task.id, ids[i]);
  }
  ASSERT_THAT(leased.held_back, SizeIs(1));
  EXPECT_EQ(leased.held_back[0].id, ids[120]);
}

TEST_F(PackLeaseTest, WhatALeaseLeavesOfAPackIsAnother) {
  const std::vector<model::NewTask> tasks = Unlike(64);
  const std::vector<TaskRow> rows = Rows(tasks);
  Required(*EnqueuePacked(*session_, rows, {}));
  const int64_t bytes = Number("SELECT bytes FROM skiplane.task_pack");
  ExpectAre(Lease({20}).rows, rows, 0);
  EXPECT_EQ(Packs(), 2);
  EXPECT_EQ(InRows(), 0);
  EXPECT_NEAR(static_cast<double>(Number("SELECT sum(bytes) FROM skiplane.task_pack")),
              static_cast<double>(bytes), 64.0);  // what spaces of headers take
  ExpectAre(Lease({41}).rows, rows, 20);
  EXPECT_EQ(InRows(), 3) << "they would be few for a pack";
  ExpectAre(Lease({30}).rows, rows, 61);
}

TEST_F(PackLeaseTest, WhatALeaseOfFewTasksLeavesIsRows) {
  const std::vector<model::NewTask> tasks = Unlike(64);
  const std::vector<TaskRow> rows = Rows(tasks);
  Required(*EnqueuePacked(*session_, rows, {}));
  const Leased leased = Lease({2});
  ExpectAre(leased.rows, rows, 0);
  EXPECT_EQ(leased.held_back[0].id, rows[2].id.id);
  EXPECT_EQ(InRows(), 62);
  ExpectAre(Lease({100}).rows, rows, 2);
  EXPECT_EQ(Ack(TokensOf(leased.rows)), 2);
  EXPECT_EQ(Packs(), 0);
}

// An ack locked its pack, and leases passed over tasks of it that waited.
TEST_F(PackLeaseTest, BesideAnAckTheNextTasksAreLeased) {
  const std::vector<int64_t> ids = Pack(128);
  const Leased leased = Lease({20});
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  const SettleBatch batch = Batch(TokensOf(leased.rows), Action::kAck);
  Required(AckPacked(*other, batch, nullptr));
  EXPECT_EQ(IdsOf(Lease({30}).rows), Part(ids, 20, 50));
  Required(other->RunText("COMMIT"));
}

// As many as fit, and whoever holds nothing gets its first.
TEST_F(PackLeaseTest, NobodyGetsMoreBytesThanItTakes) {
  Put(2, testing::TaskOf(std::string(100, 'a')));
  Pack(60, testing::TaskOf(std::string(100, 'b')));
  LeaseDemand demand = Demand(std::vector<int32_t>(20, 1));
  for (int32_t caller = 2; caller <= 5; ++caller) {
    demand.callers.push_back(demand.callers.front());
    demand.slots.insert(demand.slots.end(), 10, caller);
  }
  demand.has_packs = true;
  demand.callers[0].max_bytes = 1050;
  demand.callers[1].max_bytes = 99;
  demand.callers[2].max_bytes = 99;
  demand.callers[2].holds_tasks = true;
  demand.callers[3].max_bytes = 300;
  demand.callers[3].holds_tasks = true;
  const Leased leased = Required(store::Lease(*session_, demand));
  std::vector<int> counts(5);
  for (const LeasedRow& row : leased.rows) ++counts[static_cast<size_t>(row.caller)];
  EXPECT_THAT(counts, ElementsAre(10, 1, 0, 3, 10));
  EXPECT_THAT(leased.held_back, SizeIs(1));
  EXPECT_THAT(Lease({100}).rows, SizeIs(38));
}

// What is behind it in its pack waits, too, whosever turn that is.
TEST_F(PackLeaseTest, ATaskThatDoesNotFitKeepsTheRestOfItsPack) {
  std::vector<model::NewTask> tasks(16, testing::TaskOf("small"));
  tasks[5] = testing::TaskOf(std::string(3000, 'x'));
  const std::vector<TaskRow> first = Rows(tasks);
  Required(*EnqueuePacked(*session_, first, {}));
  const std::vector<int64_t> second = Pack(16, testing::TaskOf("small"));
  LeaseDemand demand = Demand(std::vector<int32_t>(10, 1));
  demand.callers.push_back(demand.callers.front());
  demand.slots.insert(demand.slots.end(), 10, 2);
  demand.has_packs = true;
  demand.callers[0].max_bytes = 2500;
  const Leased leased = Required(store::Lease(*session_, demand));
  ASSERT_THAT(leased.rows, SizeIs(5 + 4));
  EXPECT_EQ(leased.rows[4].task.token.task.id, first[4].id.id);
  EXPECT_EQ(leased.rows[5].task.token.task.id, second[0]);
  EXPECT_EQ(leased.rows[5].caller, 1);
  ASSERT_THAT(leased.held_back, SizeIs(1));
  EXPECT_EQ(leased.held_back[0].id, first[5].id.id);
  EXPECT_THAT(Lease({40}).rows, SizeIs(11 + 12));
}

TEST_F(PackLeaseTest, ARowThatDoesNotFitKeepsTheBound) {
  Pack(16, testing::TaskOf("small"));
  const int64_t large = PutOne(testing::TaskOf(std::string(5000, 'x')));
  Pack(16, testing::TaskOf("small"));
  LeaseDemand demand = Demand(std::vector<int32_t>(40, 1));
  demand.has_packs = true;
  demand.callers[0].max_bytes = 4000;
  const Leased leased = Required(store::Lease(*session_, demand));
  EXPECT_THAT(leased.rows, SizeIs(16));
  ASSERT_THAT(leased.held_back, SizeIs(1));
  EXPECT_EQ(leased.held_back[0].id, large);
  EXPECT_EQ(IdsOf(Lease({1}).rows), std::vector{large});
}

// They are locked, and leases beside it pass over them: nobody came back to them for a second.
TEST_F(PackLeaseTest, RowsThatAreNotWantedAreTold) {
  Pack(16);
  const std::vector<int64_t> rows = Put(20, testing::TaskWithPriority(1));
  const Leased leased = Lease({20});
  EXPECT_THAT(leased.rows, SizeIs(20));
  ASSERT_THAT(leased.held_back, SizeIs(1));
  EXPECT_EQ(leased.held_back[0].id, rows[4]);
}

TEST_F(PackLeaseTest, RowsAndPacksComeInOneOrder) {
  const std::vector<int64_t> first = Put(3);
  const std::vector<int64_t> packed = Pack(20);
  const std::vector<int64_t> between = Put(2);
  const std::vector<int64_t> second = Pack(20);
  const int64_t urgent = PutOne(testing::TaskWithPriority(-1));
  std::vector<int64_t> all{urgent};
  for (const auto& part : {first, packed, between, second}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  EXPECT_EQ(IdsOf(Lease({10}).rows), Part(all, 0, 10));
  EXPECT_EQ(IdsOf(Lease({20}).rows), Part(all, 10, 30));
  EXPECT_EQ(IdsOf(Lease({100}).rows), Part(all, 30, all.size()));
  EXPECT_THAT(Lease({1}).rows, IsEmpty());
}

TEST_F(PackLeaseTest, AReleasedTaskGoesBeforeTheRestOfItsPack) {
  const std::vector<int64_t> ids = Pack(20);
  const Leased leased = Lease({5});
  EXPECT_EQ(Settle({leased.rows[2].task.token}, Action::kRelease), 1);
  EXPECT_EQ(IdsOf(Lease({3}).rows), (std::vector<int64_t>{ids[2], ids[5], ids[6]}));
}

TEST_F(PackLeaseTest, WhatARequestIdKnowsIsNotMadeAgain) {
  const std::vector<model::NewTask> tasks(40);
  std::vector<TaskRow> rows = Rows(tasks);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].call = rows[i < 20 ? 0 : 20].id.id;
  const std::vector<RequestRow> requests = {{lane_, "a", "hash", rows[0].call},
                                            {lane_, "b", "hash", rows[20].call}};
  const std::vector<model::NewTask> earlier(1);
  std::vector<TaskRow> known = Rows(earlier);
  known[0].call = known[0].id.id;
  Required(EnqueueAsked(*session_, known, std::vector<RequestRow>{{lane_, "a", "hash",
                                                                    known[0].call}}));
  const auto made = EnqueuePacked(*session_, rows, requests);
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(Required(*made).made, SizeIs(20));
  const Leased leased = Lease({100});
  ASSERT_THAT(leased.rows, SizeIs(21));
  EXPECT_EQ(leased.rows[1].task.token.task.id, rows[20].id.id);
  EXPECT_EQ(Ack(TokensOf(leased.rows)), 21);
  EXPECT_EQ(Packs() + InRows(), 0);
}

// Such a pack, of which all that were made are leased, was looked at again and again, and what is
// behind it was not.
TEST_F(PackLeaseTest, APackEndsBeforeWhatARequestIdKnew) {
  const std::vector<model::NewTask> tasks(40, testing::TaskOf("p"));
  std::vector<TaskRow> rows = Rows(tasks);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].call = rows[i < 20 ? 0 : 20].id.id;
  const std::vector<model::NewTask> earlier(1);
  std::vector<TaskRow> known = Rows(earlier);
  known[0].call = known[0].id.id;
  const std::vector<RequestRow> asked{{lane_, "b", "hash", known[0].call}};
  Required(EnqueueAsked(*session_, known, asked));
  EXPECT_EQ(Lease({1}).rows.size(), 1);
  const std::vector<RequestRow> requests{{lane_, "a", "hash", rows[0].call},
                                         {lane_, "b", "hash", rows[20].call}};
  Required(*EnqueuePacked(*session_, rows, requests));
  const Leased leased = Lease({30});
  EXPECT_THAT(leased.rows, SizeIs(20));
  EXPECT_THAT(leased.held_back, IsEmpty());
  const std::vector<int64_t> behind = Pack(16);
  const Leased next = Lease({30});
  EXPECT_EQ(IdsOf(next.rows), behind);
  EXPECT_THAT(next.held_back, IsEmpty());
  EXPECT_EQ(Ack(TokensOf(leased.rows)), 20);
  EXPECT_EQ(Packs(), 1);
}

// It was passed over, as packs of another priority that others held filled what was looked at.
TEST_F(PackLeaseTest, APackOfALowerPriorityThatOthersHoldKeepsTheBound) {
  std::vector<int64_t> lower;
  for (int i = 0; i < 2; ++i) Pack(16, testing::TaskWithPriority(1));
  for (int i = 0; i < 2; ++i) lower.push_back(Pack(16, testing::TaskWithPriority(2))[0]);
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  Required(other->RunText(absl::StrCat("SELECT FROM skiplane.task_pack WHERE priority = 1 OR id = ",
                                       lower[0], " FOR UPDATE")));
  const Leased leased = Lease({10});
  ASSERT_THAT(leased.rows, SizeIs(10));
  EXPECT_EQ(leased.rows[0].task.token.task.id, lower[1]);
  ASSERT_THAT(leased.held_back, SizeIs(2));
  EXPECT_EQ(leased.held_back[1].id, lower[0]);
  Required(other->RunText("COMMIT"));
}

TEST_F(PackLeaseTest, AcksComeInAnyOrder) {
  Pack(64);
  const Leased leased = Lease({32, 32});
  std::vector<model::LeaseToken> tokens = TokensOf(leased.rows);
  std::vector<model::LeaseToken> even, odd;
  for (size_t i = 0; i < tokens.size(); ++i) (i % 2 == 0 ? even : odd).push_back(tokens[i]);
  EXPECT_EQ(Ack(even), 32);
  EXPECT_EQ(Packs(), 1);
  EXPECT_EQ(Ack(even), 0);
  EXPECT_EQ(ClassifyOne(even[0]).settled_as, Action::kAck);
  EXPECT_EQ(Ack(odd), 32);
  EXPECT_EQ(Packs(), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.packed_attempt"), 64);
}

TEST_F(PackLeaseTest, AnAckOfAnotherLeaseChangesNothing) {
  Pack(16);
  const Leased leased = Lease({8, 8});
  model::LeaseToken forged = leased.rows[3].task.token;
  forged.session = leased.rows[12].task.token.session;
  EXPECT_EQ(Ack({forged}), 0);
  forged = leased.rows[3].task.token;
  ++forged.lease_number;
  EXPECT_EQ(Ack({forged}), 0);
  forged = leased.rows[3].task.token;
  forged.offset = 12;  // of another pack that is not there
  EXPECT_EQ(Ack({forged}), 0);
  EXPECT_EQ(Ack({leased.rows[3].task.token}), 1);
}

TEST_F(PackLeaseTest, WhatOthersHoldKeepsTheBound) {
  const std::vector<int64_t> ids = Pack(128);
  const auto other = Open();
  Required(other->RunText("BEGIN"));
  LeaseDemand demand = Demand(std::vector<int32_t>(10, 1));
  demand.has_packs = true;
  Required(store::Lease(*other, demand));
  const Leased leased = Lease({64});
  EXPECT_EQ(IdsOf(leased.rows), Part(ids, 64, 128));
  ASSERT_THAT(leased.held_back, SizeIs(1));
  EXPECT_EQ(leased.held_back[0].id, ids[0]);
  Required(other->RunText("COMMIT"));
}

// Behind the last pack that a statement may look at there may be more.
// A user's: of packs of 16 a lease of 64 brought 32.
TEST_F(PackLeaseTest, SmallPacksFillALease) {
  std::vector<int64_t> ids;
  for (int i = 0; i < 6; ++i) {
    for (const int64_t id : Pack(16)) ids.push_back(id);
  }
  EXPECT_EQ(IdsOf(Lease({64}).rows), Part(ids, 0, 64));
  EXPECT_EQ(IdsOf(Lease({64}).rows), Part(ids, 64, 96));
}

TEST_F(PackLeaseTest, AShortAnswerAtItsLimitSaysSo) {
  for (int i = 0; i < 8; ++i) Pack(16);
  Required(session_->RunText("BEGIN"));
  Required(session_->RunText("UPDATE skiplane.task_pack SET gone = (1 << 12) - 1"));
  const Leased leased = Lease({60});
  EXPECT_THAT(leased.rows, SizeIs(20)) << "of five packs, four each";
  EXPECT_THAT(leased.held_back, SizeIs(1));
  Required(session_->RunText("ROLLBACK"));
}

TEST_F(PackLeaseTest, FewTasksOrSpecialOnesAreNotPacked) {
  const auto packed = [this](const std::vector<model::NewTask>& tasks) {
    return EnqueuePacked(*session_, Rows(tasks), {}).has_value();
  };
  EXPECT_FALSE(packed(std::vector<model::NewTask>(15)));
  EXPECT_FALSE(packed(std::vector<model::NewTask>(64, testing::KeyedTask("k"))));
  EXPECT_FALSE(packed(std::vector<model::NewTask>(64, testing::TaskIn(absl::Seconds(1)))));
  EXPECT_FALSE(packed(std::vector<model::NewTask>(64, testing::TaskOf(std::string(5000, 'x')))));
}

}  // namespace
}  // namespace skiplane::store
