#include "server/rpc/stream/unsent.h"

#include <vector>

#include "gtest/gtest.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {
namespace {

using Results = google::protobuf::RepeatedPtrField<v1::WorkResult>;

Results Some(const std::vector<int64_t>& numbers) {
  Results results;
  for (const int64_t number : numbers) results.Add()->set_number(number);
  return results;
}

std::vector<int64_t> NumbersOf(const Results& results) {
  std::vector<int64_t> numbers;
  for (const v1::WorkResult& result : results) numbers.push_back(result.number());
  return numbers;
}

using Numbers = std::vector<int64_t>;
constexpr int64_t kBytes = 2;  // of a result with a small number

TEST(UnsentTest, IsFullByItsAnswersOrByTheirBytes) {
  UnsentOfAll all = 0;
  Unsent unsent(&all);
  for (int i = 0; i < model::kStreamUnsentMax; ++i) {
    EXPECT_FALSE(unsent.IsFull());
    unsent.Add(1);
  }
  EXPECT_TRUE(unsent.IsFull());
  unsent.Clear();
  unsent.Add(model::kStreamUnsentBytesMax);
  EXPECT_TRUE(unsent.IsFull());
  EXPECT_EQ(all, model::kStreamUnsentBytesMax);
}

TEST(UnsentTest, MayBeLittleWhileAllTogetherAreMuch) {
  UnsentOfAll all = 0;
  Unsent unsent(&all);
  unsent.Add(model::kStreamUnsentBytesLeft);
  EXPECT_FALSE(unsent.IsFull());
  {
    Unsent other(&all);
    other.Add(model::kUnsentBytesOfAllMax);
    EXPECT_TRUE(unsent.IsFull());
  }
  EXPECT_FALSE(unsent.IsFull()) << "the other one is gone";
}

TEST(CutAnswersTest, LeavesWhatFitsAndCountsTheRest) {
  UnsentOfAll all = 0;
  Unsent unsent(&all);
  Results answers = Some({1, 2, 3, 4});
  Results rest;
  int64_t room = 2 * kBytes + 1;
  CutAnswers(&room, &answers, &rest, &unsent);
  EXPECT_EQ(NumbersOf(answers), (Numbers{1, 2}));
  EXPECT_EQ(NumbersOf(rest), (Numbers{3, 4}));
  EXPECT_EQ(unsent.bytes(), 2 * kBytes);
  EXPECT_EQ(room, 1);
}

TEST(CutAnswersTest, LeavesAllThatFit) {
  UnsentOfAll all = 0;
  Unsent unsent(&all);
  Results answers = Some({1, 2});
  Results rest;
  int64_t room = 2 * kBytes;
  CutAnswers(&room, &answers, &rest, &unsent);
  EXPECT_EQ(NumbersOf(answers), (Numbers{1, 2}));
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(all, 0);
}

}  // namespace
}  // namespace skiplane::rpc
