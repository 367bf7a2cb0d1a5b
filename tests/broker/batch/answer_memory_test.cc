#include "server/broker/batch/answer_memory.h"

#include <optional>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

TEST(AnswerMemoryTest, IsFullFromItsLimitOn) {
  AnswerMemory memory(100, nullptr);
  const auto first = memory.Hold(99);
  EXPECT_FALSE(memory.IsFull());
  const auto second = memory.Hold(1);
  EXPECT_TRUE(memory.IsFull());
}

TEST(AnswerMemoryTest, TheLastCopyMakesRoom) {
  int told = 0;
  AnswerMemory memory(100, [&told] { ++told; });
  auto held = memory.Hold(100);
  auto copy = held;
  held.reset();
  EXPECT_TRUE(memory.IsFull());
  EXPECT_EQ(told, 0);
  copy.reset();
  EXPECT_FALSE(memory.IsFull());
  EXPECT_EQ(told, 1);
}

TEST(AnswerMemoryTest, RoomIsToldOfOnlyWhenItIsThereAndWasNot) {
  int told = 0;
  AnswerMemory memory(100, [&told] { ++told; });
  auto small = memory.Hold(1);
  auto large = memory.Hold(150);
  small.reset();
  EXPECT_EQ(told, 0);
  small = memory.Hold(1);
  large.reset();
  EXPECT_EQ(told, 1);
  small.reset();
  EXPECT_EQ(told, 1);
}

TEST(AnswerMemoryTest, AnAnswerMayOutliveIt) {
  int told = 0;
  std::optional<AnswerMemory> memory(std::in_place, 100, [&told] { ++told; });
  auto held = memory->Hold(100);
  memory.reset();
  held.reset();
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace skiplane::broker
