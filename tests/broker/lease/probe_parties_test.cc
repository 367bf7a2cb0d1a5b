#include "server/broker/lease/probe_parties.h"

#include <chrono>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

TEST(ProbePartiesTest, SlowProbesAreOfOnePartyUntilTheyAreFastAgain) {
  const model::LaneStage slow{1, 0}, slow_too{2, 0}, fast{3, 0};
  ProbeParties parties;
  EXPECT_NE(parties.PartyOf(slow), parties.PartyOf(slow_too));
  for (const model::LaneStage lane_stage : {slow, slow_too}) {
    parties.Note(lane_stage, std::chrono::seconds(2));
  }
  parties.Note(fast, std::chrono::milliseconds(900));
  EXPECT_EQ(parties.PartyOf(slow), parties.PartyOf(slow_too));
  EXPECT_NE(parties.PartyOf(slow), parties.PartyOf(fast));
  parties.Note(slow, std::chrono::milliseconds(900));
  EXPECT_NE(parties.PartyOf(slow), parties.PartyOf(slow_too));
}

TEST(ProbePartiesTest, StagesOfALaneAreOfOneParty) {
  const ProbeParties parties;
  EXPECT_EQ(parties.PartyOf({1, 0}), parties.PartyOf({1, 1}));
}

}  // namespace
}  // namespace skiplane::broker
