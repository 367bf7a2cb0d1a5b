// How many lists of lane stages the calls that wait may stand in, all of them and those of a party.
#include "server/broker/schedule/waiting_room.h"

#include <string>

#include "gtest/gtest.h"
#include "server/base/reason.h"

namespace skiplane::broker {
namespace {

Ticket Waiting(const std::string& party, size_t lane_stages) {
  Ticket ticket;
  ticket.call.party = party;
  ticket.wanted.resize(lane_stages);
  return ticket;
}

class WaitingRoomTest : public ::testing::Test {
 protected:
  std::string Enter(const Ticket& ticket) {
    const absl::Status status = room_.Enter(ticket);
    if (status.ok()) return "in";
    EXPECT_EQ(base::ReasonOf(status), "TOO_MANY_WAITING_CALLS");
    return std::string(status.message());
  }

  WaitingRoom room_{{.calls = 4, .lane_stages = 8, .party_share = 75}};
};

TEST_F(WaitingRoomTest, CallsOfOneLaneStageCountAsCallsOnly) {
  const Ticket ticket = Waiting("ann", 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Enter(ticket), "in");
  EXPECT_NE(Enter(ticket), "in");
  room_.Leave(ticket);
  EXPECT_EQ(Enter(ticket), "in");
}

TEST_F(WaitingRoomTest, APartyHasItsPartOfTheLaneStages) {
  const Ticket wide = Waiting("ann", 7);
  EXPECT_EQ(Enter(wide), "in");
  EXPECT_NE(Enter(Waiting("ann", 2)).find("this caller's"), std::string::npos);
  EXPECT_EQ(Enter(Waiting("ann", 1)), "in") << "it takes no further place";
  EXPECT_EQ(Enter(Waiting("bob", 3)), "in");
  room_.Leave(wide);
  EXPECT_EQ(Enter(Waiting("ann", 7)), "in");
}

TEST_F(WaitingRoomTest, AllHaveNoMoreThanThereIs) {
  EXPECT_EQ(Enter(Waiting("ann", 7)), "in");
  EXPECT_NE(Enter(Waiting("bob", 4)).find("this broker"), std::string::npos);
  EXPECT_EQ(Enter(Waiting("bob", 3)), "in");
}

// Who was refused has taken nothing.
TEST_F(WaitingRoomTest, ARefusalTakesNoRoom) {
  for (int i = 0; i < 10; ++i) EXPECT_NE(Enter(Waiting("ann", 8)), "in");
  EXPECT_EQ(Enter(Waiting("ann", 7)), "in");
}

}  // namespace
}  // namespace skiplane::broker
