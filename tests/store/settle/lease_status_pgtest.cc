#include <limits>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/store/reclaim.h"
#include "server/store/settle.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using testing::IsOk;
using testing::IsOkAndHolds;
using testing::kOtherWorker;
using testing::kWorker;
using testing::Required;

// A status in short: held, lives, finished, and the number of the action it was settled with.
std::string Short(const LeaseStatus& status) {
  std::vector<std::string> words;
  if (status.is_held) words.push_back("held");
  if (status.lives) words.push_back("lives");
  if (status.was_finished) words.push_back("finished");
  if (status.settled_as.has_value()) {
    words.push_back(absl::StrCat("settled:", static_cast<int>(*status.settled_as)));
  }
  return absl::StrJoin(words, " ");
}

class LeaseStatusTest : public testing::StoreHarness,
                  public ::testing::WithParamInterface<model::HistoryPolicy> {
 protected:
  void End(const model::LeaseToken& token, Action action) {
    SettleBatch batch = Batch({token}, action);
    batch.settings.history = GetParam();
    ASSERT_THAT(store::Settle(*session_, batch), IsOkAndHolds(::testing::SizeIs(1)));
  }

  std::string Classified(const model::LeaseToken& token) { return Short(ClassifyOne(token)); }
};

TEST_P(LeaseStatusTest, HeldByThisVeryLease) {
  PutOne();
  EXPECT_EQ(Classified(TakeOne()), "held lives");
}

TEST_P(LeaseStatusTest, AckedByMe) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kAck);
  EXPECT_EQ(Classified(token), "finished settled:1");
}

TEST_P(LeaseStatusTest, AckedByMeByLocation) {
  Put(3);
  const auto tokens = testing::TokensOf(Take(3));
  SettleBatch batch = Batch(tokens);
  batch.settings.history = GetParam();
  ASSERT_THAT(AckByLocation(*session_, batch), IsOk());
  for (const model::LeaseToken& token : tokens) EXPECT_EQ(Classified(token), "finished settled:1");
}

// Leases that were acked in any order were remembered in rows that each spanned all of them: to
// find one of a million again took a third of a second.
TEST_P(LeaseStatusTest, AckedByMeFarApart) {
  constexpr int kTasks = 64;  // in four groups
  for (int i = 0; i < kTasks; ++i) {
    Put(2);
    if (i % 16 == 15) next_id_ += 100000;
  }
  const auto leases = testing::TokensOf(Take(2 * kTasks));
  std::vector<model::LeaseToken> acked, ended;
  for (size_t i = 0; i < leases.size(); ++i) (i % 2 == 0 ? acked : ended).push_back(leases[i]);
  SettleBatch batch = Batch(acked);
  batch.settings.history = GetParam();
  ASSERT_THAT(AckByLocation(*session_, batch), IsOkAndHolds(::testing::SizeIs(kTasks)));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.settled"), 4);
  batch.rows = Batch(ended).rows;
  ASSERT_THAT(store::Settle(*session_, batch), IsOkAndHolds(::testing::SizeIs(kTasks)));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.settled"), 8);
  for (const model::LeaseToken& token : leases) EXPECT_EQ(Classified(token), "finished settled:1");
}

TEST(IdsPerSettledRow, AreAllUnlessManyTasksLieFarApart) {
  const auto ids_per_row = [](int count, int64_t last) {
    std::vector<SettleRow> rows(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) rows[static_cast<size_t>(i)].token.task.id = 1 + i;
    if (count > 0) rows.back().token.task.id = last;
    return IdsPerSettledRow(rows);
  };
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ids_per_row(0, 0), kAll);
  EXPECT_EQ(ids_per_row(1, 1), kAll);
  EXPECT_EQ(ids_per_row(31, 1000000), kAll);
  EXPECT_EQ(ids_per_row(32, 64 * 32), kAll);
  EXPECT_EQ(ids_per_row(32, 64 * 32 + 1), 1025);
  EXPECT_EQ(ids_per_row(1000, int64_t{1} << 62), (int64_t{1} << 62) / 62 + 1);
}

TEST_P(LeaseStatusTest, RetriedByMe) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kRetry);
  const LeaseStatus status = ClassifyOne(token);
  EXPECT_TRUE(status.lives);
  EXPECT_FALSE(status.is_held);
  EXPECT_EQ(status.settled_as, Action::kRetry);
}

TEST_P(LeaseStatusTest, FailedByMe) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kFail);
  EXPECT_EQ(Classified(token), "finished settled:3");
}

TEST_P(LeaseStatusTest, ReleasedByMeAndLeasedByAnother) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kRelease);
  TakeOne(kOtherWorker);
  const LeaseStatus status = ClassifyOne(token);
  EXPECT_TRUE(status.lives);
  EXPECT_FALSE(status.is_held);
  EXPECT_EQ(status.settled_as, Action::kRelease);
}

TEST_P(LeaseStatusTest, LostAndLeasedByAnother) {
  PutOne();
  const model::LeaseToken token = TakeOne(kWorker);
  Required(Reclaim(*session_, lane_, {kWorker}, testing::SettingsWith(GetParam()), 10));
  const auto expect_lost = [&] {
    const LeaseStatus status = ClassifyOne(token);
    EXPECT_TRUE(status.lives);
    EXPECT_FALSE(status.is_held);
    EXPECT_FALSE(status.settled_as.has_value());
  };
  expect_lost();
  TakeOne(kOtherWorker);
  expect_lost();
}

TEST_P(LeaseStatusTest, LostAndFinishedByAnother) {
  for (const Action action : {Action::kAck, Action::kFail}) {
    PutOne();
    model::LeaseToken token = TakeOne(kWorker);
    End(token, Action::kRelease);
    const model::LeaseToken held = TakeOne(kOtherWorker);
    End(held, action);
    // As a worker would send it whose lease was lost before it released: another lease number.
    token.lease_number = held.lease_number - 1;
    EXPECT_EQ(Classified(token), "finished") << static_cast<int>(action);
  }
}

TEST_P(LeaseStatusTest, UnknownTasksAreUnknown) {
  PutOne();
  model::LeaseToken token = TakeOne();
  End(token, Action::kAck);
  token.task.id += 1;
  EXPECT_EQ(Classified(token), "");
}

TEST_P(LeaseStatusTest, AForeignSessionDoesNotHoldIt) {
  PutOne();
  model::LeaseToken token = TakeOne(kWorker);
  token.session = kOtherWorker;
  EXPECT_EQ(Classified(token), "lives");
}

TEST_P(LeaseStatusTest, OneStatusPerTokenInOrder) {
  Put(3);
  const auto tokens = testing::TokensOf(Take(3));
  End(tokens[1], Action::kAck);
  const std::vector<LeaseStatus> statuses =
      Required(Classify(*session_, lane_, {tokens[2], tokens[1], tokens[0], tokens[1]}));
  ASSERT_EQ(statuses.size(), 4u);
  EXPECT_EQ(Short(statuses[0]), "held lives");
  EXPECT_EQ(Short(statuses[1]), "finished settled:1");
  EXPECT_EQ(Short(statuses[2]), "held lives");
  EXPECT_EQ(Short(statuses[3]), "finished settled:1");
}

INSTANTIATE_TEST_SUITE_P(Histories, LeaseStatusTest,
                         ::testing::Values(model::HistoryPolicy::kAll, model::HistoryPolicy::kNone),
                         [](const auto& suite) {
                           return suite.param == model::HistoryPolicy::kAll ? "WithHistory"
                                                                           : "WithoutHistory";
                         });

}  // namespace
}  // namespace skiplane::store
