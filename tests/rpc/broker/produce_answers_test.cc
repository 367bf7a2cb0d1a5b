#include "server/rpc/broker/produce_answers.h"

#include "gtest/gtest.h"
#include "server/model/limits.h"

namespace skiplane::rpc {
namespace {

constexpr int64_t kBytes = 18;  // of one with ten bytes of text

class ProduceAnswersTest : public ::testing::Test {
 protected:
  void Add(int64_t number, size_t message_bytes = 10) {
    v1::ProduceResponse message;
    v1::ProduceResult* const result = message.add_results();
    result->set_number(number);
    result->mutable_refusal()->set_message(std::string(message_bytes, 'x'));
    answers_.Add(message);
  }

  // The numbers of what is taken.
  std::vector<int64_t> Take(int64_t bytes_max) {
    v1::ProduceResponse message;
    EXPECT_TRUE(message.ParseFromString(answers_.Take(bytes_max)));
    std::vector<int64_t> numbers;
    for (const v1::ProduceResult& result : message.results()) numbers.push_back(result.number());
    return numbers;
  }

  using Numbers = std::vector<int64_t>;
  UnsentOfAll all_ = 0;
  Unsent unsent_{&all_};
  ProduceAnswers answers_{&unsent_};
};

TEST_F(ProduceAnswersTest, AreEmptyAtFirst) {
  EXPECT_EQ(answers_.Take(1000), "");
}

TEST_F(ProduceAnswersTest, GoInTheirOrderAsOneMessage) {
  for (int64_t number = 1; number <= 3; ++number) Add(number);
  EXPECT_EQ(all_, 3 * kBytes);
  EXPECT_EQ(Take(3 * kBytes), (Numbers{1, 2, 3}));
  EXPECT_EQ(all_, 0);
  EXPECT_EQ(answers_.Take(1000), "");
}

TEST_F(ProduceAnswersTest, WhatDoesNotFitStaysAndIsCounted) {
  for (int64_t number = 1; number <= 5; ++number) Add(number);
  EXPECT_EQ(Take(3 * kBytes - 1), (Numbers{1, 2}));
  EXPECT_EQ(all_, 3 * kBytes);
  Add(6, 300);
  EXPECT_EQ(Take(2 * kBytes), (Numbers{3, 4}));
  EXPECT_EQ(Take(1), (Numbers{5})) << "one at least";
  EXPECT_EQ(Take(1000), (Numbers{6}));
  EXPECT_EQ(all_, 0);
}

TEST_F(ProduceAnswersTest, CountUntilNothingMoreIsToBeRead) {
  for (int64_t number = 0; number < model::kStreamUnsentMax; ++number) {
    EXPECT_FALSE(unsent_.IsFull());
    Add(number);
  }
  EXPECT_TRUE(unsent_.IsFull());
  Take(20 * kBytes);
  EXPECT_FALSE(unsent_.IsFull());
}

}  // namespace
}  // namespace skiplane::rpc
