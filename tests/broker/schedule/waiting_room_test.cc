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
  ticket.waits = true;
  return ticket;
}

class WaitingRoomTest : public ::testing::Test {
 protected:
  std::string Enter(Ticket&& ticket) { return Enter(ticket); }
  std::string Enter(Ticket& ticket) {
    const absl::Status status = room_.Enter(ticket);
    if (status.ok()) return "in";
    EXPECT_EQ(base::ReasonOf(status), "TOO_MANY_WAITING_CALLS");
    EXPECT_EQ(base::RetryDelayOf(status), absl::Seconds(1)) << "a stream tries again";
    return std::string(status.message());
  }

  WaitingRoom room_{{.calls = 4, .lane_stages = 8, .party_share = 75}};
};

TEST_F(WaitingRoomTest, CallsOfOneLaneStageCountAsCallsOnly) {
  Ticket ticket = Waiting("ann", 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Enter(ticket), "in");
  EXPECT_NE(Enter(ticket), "in");
  room_.Leave(ticket);
  EXPECT_EQ(Enter(ticket), "in");
}

TEST_F(WaitingRoomTest, APartyHasItsPartOfTheLaneStages) {
  Ticket wide = Waiting("ann", 7);
  EXPECT_EQ(Enter(wide), "in");
  EXPECT_NE(Enter(Waiting("ann", 2)).find("of one principal may be for 6"), std::string::npos);
  EXPECT_EQ(Enter(Waiting("ann", 1)), "in") << "it takes no further place";
  EXPECT_EQ(Enter(Waiting("bob", 3)), "in");
  room_.Leave(wide);
  EXPECT_EQ(Enter(Waiting("ann", 7)), "in");
}

TEST_F(WaitingRoomTest, AllHaveNoMoreThanThereIs) {
  EXPECT_EQ(Enter(Waiting("ann", 7)), "in");
  EXPECT_NE(Enter(Waiting("bob", 4)).find("of all may be for 8"), std::string::npos);
  EXPECT_EQ(Enter(Waiting("bob", 3)), "in");
}

// It is listed as those that wait, until all its lane stages are known.
TEST_F(WaitingRoomTest, ACallThatDoesNotWaitTakesPlacesButNoCall) {
  Ticket at_once = Waiting("ann", 7);
  at_once.waits = false;
  EXPECT_EQ(Enter(at_once), "in");
  EXPECT_NE(Enter(Waiting("ann", 2)), "in");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Enter(Waiting("ann", 1)), "in");
  room_.Leave(at_once);
  EXPECT_NE(Enter(Waiting("ann", 1)), "in") << "that one did not count as a call";
}

// One that goes on after it was reserved was never in.
TEST_F(WaitingRoomTest, WhoNeverEnteredGivesNothingBack) {
  Ticket reserved = Waiting("ann", 7);
  reserved.waits = false;
  room_.Leave(reserved);
  EXPECT_EQ(Enter(Waiting("ann", 7)), "in");
  EXPECT_NE(Enter(Waiting("ann", 2)), "in");
}

// Who was refused has taken nothing.
TEST_F(WaitingRoomTest, ARefusalTakesNoRoom) {
  for (int i = 0; i < 10; ++i) EXPECT_NE(Enter(Waiting("ann", 8)), "in");
  EXPECT_EQ(Enter(Waiting("ann", 7)), "in");
}

}  // namespace
}  // namespace skiplane::broker
