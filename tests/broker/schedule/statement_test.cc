#include "server/broker/schedule/statement.h"

#include "gmock/gmock.h"

namespace skiplane::broker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Turn TurnOf(int32_t caller) {
  Turn turn;
  turn.caller = caller;
  return turn;
}

TEST(SlotsOfTest, AreTheTurnsOfOneTask) {
  EXPECT_THAT(SlotsOf({{}, {1, 3}, {TurnOf(0), TurnOf(1), TurnOf(1), TurnOf(1)}}),
              ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(SlotsOf({}), IsEmpty());
}

TEST(SlotsOfTest, AreOneEachInTurnWhereATurnIsSeveral) {
  EXPECT_THAT(SlotsOf({{}, {1, 3, 2}, {TurnOf(0), TurnOf(1), TurnOf(2)}}),
              ElementsAre(1, 2, 3, 2, 3, 2));
}

store::LeasedRow Row(int caller, int16_t priority, int64_t micros, int64_t id, size_t bytes = 0) {
  store::LeasedRow row;
  row.caller = caller;
  row.task.priority = priority;
  row.task.schedule_time = absl::FromUnixMicros(micros);
  row.task.token.task.id = id;
  row.task.payload = std::string(bytes, 'x');
  return row;
}

TEST(LastKeysTest, NamesTheLastKeyOfEachPriority) {
  LeaseRun run;
  run.demand.slots = {1, 1, 1};
  const std::vector<store::Bound> keys =
      LastKeys(run, {Row(0, -1, 10, 1), Row(0, -1, 20, 2), Row(0, 4, 5, 3)});
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].priority, -1);
  EXPECT_EQ(keys[0].id, 2);
  EXPECT_EQ(keys[1].id, 3);
}

// A row that did not fit into its caller's bytes was behind the bound then, for a second.
TEST(LastKeysTest, StopsBeforeARowThatDidNotFit) {
  LeaseRun run;
  run.demand.slots = {1, 2, 1, 2};
  const std::vector<store::Bound> keys =
      LastKeys(run, {Row(0, 0, 10, 1), Row(1, 0, 10, 2), Row(1, 0, 10, 4)});
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].id, 2);
}

TEST(MayHaveLeftSomeTest, HeadersCountAsPayloadsDo) {
  LeaseRun run;
  run.demand.callers = {{{}, 1000, {}, ""}};
  store::Leased leased;
  leased.rows = {Row(0, 0, 1, 1, 100)};
  leased.rows[0].task.headers = {{"name", std::string(500, 'x')}};
  EXPECT_TRUE(MayHaveLeftSome(run, leased));
}

// Asked again at once, it would spin for as long as others hold their packs.
TEST(MayHaveLeftSomeTest, PacksThatOthersHoldAreLeftToAProbe) {
  LeaseRun run;
  run.demand.has_packs = true;
  run.demand.callers.emplace_back().max_bytes = 1000;
  run.demand.slots = {1, 1};
  store::Leased leased;
  leased.held_back.emplace_back();
  EXPECT_FALSE(MayHaveLeftSome(run, leased));
  EXPECT_FALSE(TookAll(run, leased, 0));
  leased.rows.emplace_back();
  EXPECT_TRUE(MayHaveLeftSome(run, leased));
}

TEST(MayHaveLeftSomeTest, SmallTasksNeverCut) {
  LeaseRun run;
  run.demand.callers = {{{}, 1000, {}, ""}};
  store::Leased leased;
  leased.rows = {Row(0, 0, 1, 1, 100)};
  EXPECT_FALSE(MayHaveLeftSome(run, leased));
}

TEST(MayHaveLeftSomeTest, ACallerWhoseBytesAreUsedUpMayBeCut) {
  LeaseRun run;
  run.demand.callers = {{{}, 1000, {}, ""}, {{}, 1000, {}, ""}};
  store::Leased leased;
  leased.rows = {Row(1, 0, 1, 1, 600)};
  EXPECT_TRUE(MayHaveLeftSome(run, leased));
}

TEST(MayHaveLeftSomeTest, TheWholeAnswerMayBeCut) {
  LeaseRun run;
  run.demand.callers = {{{}, 1 << 20, {}, ""}};
  run.demand.bytes_max = 100;
  store::Leased leased;
  leased.rows = {Row(0, 0, 1, 1, 60)};
  EXPECT_TRUE(MayHaveLeftSome(run, leased));
}

}  // namespace
}  // namespace skiplane::broker
