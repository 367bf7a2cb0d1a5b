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

// A verdict in short: held, lives, finished, and the number of the action it was settled with.
std::string Short(const Verdict& verdict) {
  std::vector<std::string> words;
  if (verdict.is_held) words.push_back("held");
  if (verdict.lives) words.push_back("lives");
  if (verdict.was_finished) words.push_back("finished");
  if (verdict.settled_as.has_value()) {
    words.push_back(absl::StrCat("settled:", static_cast<int>(*verdict.settled_as)));
  }
  return absl::StrJoin(words, " ");
}

class JudgeTest : public testing::StoreHarness,
                  public ::testing::WithParamInterface<model::HistoryPolicy> {
 protected:
  void End(const model::LeaseToken& token, Action action) {
    SettleBatch batch = Batch({token}, action);
    batch.settings.history = GetParam();
    ASSERT_THAT(store::Settle(*session_, batch), IsOkAndHolds(::testing::SizeIs(1)));
  }

  std::string Judged(const model::LeaseToken& token) { return Short(JudgeOne(token)); }
};

TEST_P(JudgeTest, HeldByThisVeryLease) {
  PutOne();
  EXPECT_EQ(Judged(TakeOne()), "held lives");
}

TEST_P(JudgeTest, AckedByMe) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kAck);
  EXPECT_EQ(Judged(token), "finished settled:1");
}

TEST_P(JudgeTest, AckedByMeByPlace) {
  Put(3);
  const auto tokens = testing::TokensOf(Take(3));
  SettleBatch batch = Batch(tokens);
  batch.settings.history = GetParam();
  ASSERT_THAT(AckByPlace(*session_, batch), IsOk());
  for (const model::LeaseToken& token : tokens) EXPECT_EQ(Judged(token), "finished settled:1");
}

TEST_P(JudgeTest, RetriedByMe) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kRetry);
  const Verdict verdict = JudgeOne(token);
  EXPECT_TRUE(verdict.lives);
  EXPECT_FALSE(verdict.is_held);
  EXPECT_EQ(verdict.settled_as, Action::kRetry);
}

TEST_P(JudgeTest, FailedByMe) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kFail);
  EXPECT_EQ(Judged(token), "finished settled:3");
}

TEST_P(JudgeTest, ReleasedByMeAndLeasedByAnother) {
  PutOne();
  const model::LeaseToken token = TakeOne();
  End(token, Action::kRelease);
  TakeOne(kOtherWorker);
  const Verdict verdict = JudgeOne(token);
  EXPECT_TRUE(verdict.lives);
  EXPECT_FALSE(verdict.is_held);
  EXPECT_EQ(verdict.settled_as, Action::kRelease);
}

TEST_P(JudgeTest, LostAndLeasedByAnother) {
  PutOne();
  const model::LeaseToken token = TakeOne(kWorker);
  Required(Reclaim(*session_, lane_, {kWorker}, testing::SettingsWith(GetParam()), 10));
  const auto expect_lost = [&] {
    const Verdict verdict = JudgeOne(token);
    EXPECT_TRUE(verdict.lives);
    EXPECT_FALSE(verdict.is_held);
    EXPECT_FALSE(verdict.settled_as.has_value());
  };
  expect_lost();
  TakeOne(kOtherWorker);
  expect_lost();
}

TEST_P(JudgeTest, LostAndFinishedByAnother) {
  for (const Action action : {Action::kAck, Action::kFail}) {
    PutOne();
    model::LeaseToken token = TakeOne(kWorker);
    End(token, Action::kRelease);
    const model::LeaseToken held = TakeOne(kOtherWorker);
    End(held, action);
    // As a worker would send it whose lease was lost before it released: another lease number.
    token.lease_no = held.lease_no - 1;
    EXPECT_EQ(Judged(token), "finished") << static_cast<int>(action);
  }
}

TEST_P(JudgeTest, UnknownTasksAreUnknown) {
  PutOne();
  model::LeaseToken token = TakeOne();
  End(token, Action::kAck);
  token.task.id += 1;
  EXPECT_EQ(Judged(token), "");
}

TEST_P(JudgeTest, AForeignSessionDoesNotHoldIt) {
  PutOne();
  model::LeaseToken token = TakeOne(kWorker);
  token.session = kOtherWorker;
  EXPECT_EQ(Judged(token), "lives");
}

TEST_P(JudgeTest, OneVerdictPerTokenInOrder) {
  Put(3);
  const auto tokens = testing::TokensOf(Take(3));
  End(tokens[1], Action::kAck);
  const std::vector<Verdict> verdicts =
      Required(Judge(*session_, lane_, {tokens[2], tokens[1], tokens[0], tokens[1]}));
  ASSERT_EQ(verdicts.size(), 4u);
  EXPECT_EQ(Short(verdicts[0]), "held lives");
  EXPECT_EQ(Short(verdicts[1]), "finished settled:1");
  EXPECT_EQ(Short(verdicts[2]), "held lives");
  EXPECT_EQ(Short(verdicts[3]), "finished settled:1");
}

INSTANTIATE_TEST_SUITE_P(Histories, JudgeTest,
                         ::testing::Values(model::HistoryPolicy::kAll, model::HistoryPolicy::kNone),
                         [](const auto& suite) {
                           return suite.param == model::HistoryPolicy::kAll ? "WithHistory"
                                                                           : "WithoutHistory";
                         });

}  // namespace
}  // namespace skiplane::store
