#include "server/broker/batch/answer_memory.h"

#include <optional>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

constexpr AnswerMemory::Limits kShared{.bytes = 100, .party_share = 100};
constexpr AnswerMemory::Limits kInParts{.bytes = 100, .party_share = 60};

TEST(AnswerMemoryTest, IsFullFromItsLimitOn) {
  AnswerMemory memory(kShared, nullptr);
  const auto first = memory.Hold("a", 49);
  const auto second = memory.Hold("b", 50);
  EXPECT_FALSE(memory.WhoIsFull().for_all);
  EXPECT_FALSE(memory.IsFullFor("c"));
  const auto third = memory.Hold("b", 1);
  EXPECT_TRUE(memory.WhoIsFull().for_all);
  EXPECT_TRUE(memory.IsFullFor("c"));
}

TEST(AnswerMemoryTest, TheLastCopyMakesRoom) {
  int told = 0;
  AnswerMemory memory(kShared, [&told] { ++told; });
  auto held = memory.Hold("a", 100);
  auto copy = held;
  held.reset();
  EXPECT_TRUE(memory.IsFullFor("a"));
  EXPECT_EQ(told, 0);
  copy.reset();
  EXPECT_FALSE(memory.IsFullFor("a"));
  EXPECT_EQ(told, 1);
}

TEST(AnswerMemoryTest, RoomIsToldOfOnlyWhenItIsThereAndWasNot) {
  int told = 0;
  AnswerMemory memory(kShared, [&told] { ++told; });
  auto small = memory.Hold("a", 1);
  auto large = memory.Hold("b", 99);
  auto more = memory.Hold("b", 50);
  small.reset();
  EXPECT_EQ(told, 0);
  small = memory.Hold("a", 1);
  large.reset();
  EXPECT_EQ(told, 1);
  small.reset();
  EXPECT_EQ(told, 1);
}

TEST(AnswerMemoryTest, APartyHasItsPartAndLeavesTheOthersTheirs) {
  AnswerMemory memory(kInParts, nullptr);
  const auto some = memory.Hold("greedy", 59);
  EXPECT_FALSE(memory.IsFullFor("greedy"));
  const auto rest = memory.Hold("greedy", 1);
  EXPECT_TRUE(memory.IsFullFor("greedy"));
  EXPECT_FALSE(memory.IsFullFor("other"));
  EXPECT_FALSE(memory.WhoIsFull().for_all);
  EXPECT_EQ(memory.WhoIsFull().parties, absl::flat_hash_set<std::string>{"greedy"});
}

// What was under way to it when it came to its part is nothing that others lack.
TEST(AnswerMemoryTest, WhatAPartyHasBeyondItsPartTakesNoRoomFromOthers) {
  int told = 0;
  AnswerMemory memory(kInParts, [&told] { ++told; });
  auto beyond = memory.Hold("greedy", 1000);
  auto other = memory.Hold("other", 39);
  EXPECT_FALSE(memory.IsFullFor("other"));
  auto last = memory.Hold("other", 1);
  EXPECT_TRUE(memory.IsFullFor("other"));
  beyond.reset();
  EXPECT_FALSE(memory.IsFullFor("other"));
  EXPECT_FALSE(memory.IsFullFor("greedy"));
  EXPECT_EQ(told, 1);
}

TEST(AnswerMemoryTest, APartyIsToldOfItsRoom) {
  int told = 0;
  AnswerMemory memory(kInParts, [&told] { ++told; });
  auto first = memory.Hold("greedy", 10);
  auto second = memory.Hold("greedy", 60);
  first.reset();
  EXPECT_TRUE(memory.IsFullFor("greedy"));
  EXPECT_EQ(told, 0);
  second.reset();
  EXPECT_FALSE(memory.IsFullFor("greedy"));
  EXPECT_TRUE(memory.WhoIsFull().parties.empty());
  EXPECT_EQ(told, 1);
}

TEST(AnswerMemoryTest, EmptyAnswersWeighNothing) {
  AnswerMemory memory(kInParts, nullptr);
  auto first = memory.Hold("a", 0);
  auto second = memory.Hold("a", 0);
  first.reset();
  second.reset();
  EXPECT_FALSE(memory.IsFullFor("a"));
}

TEST(AnswerMemoryTest, AnAnswerMayOutliveIt) {
  int told = 0;
  std::optional<AnswerMemory> memory(std::in_place, kShared, [&told] { ++told; });
  auto held = memory->Hold("a", 100);
  memory.reset();
  held.reset();
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace skiplane::broker
