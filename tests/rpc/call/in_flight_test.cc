// How many calls and bytes a server lets in.
#include "server/rpc/call/in_flight.h"

#include <deque>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/require.h"

namespace skiplane::rpc {
namespace {

using Holding = InFlight::Holding;
using Parking = InFlight::Parking;
using Room = InFlight::Room;
using WaitFor = InFlight::WaitFor;

constexpr Party kGreedy = {"token:greedy", true};
constexpr Party kOther = {"token:other", true};
constexpr Party kConnection = {"ipv4:127.0.0.1:40000", false};

// Without a limit of each party or address.
InFlight::Limits Shared(InFlight::Limits limits) {
  limits.principal_share = 100;
  limits.address_share = 100;
  return limits;
}

class InFlightTest : public ::testing::Test {
 protected:
  void Begin(InFlight::Limits limits) { in_flight_ = std::make_unique<InFlight>(limits); }

  // A call of `party`, which is let in unless the answer says otherwise.
  Room Call(int64_t bytes, const Party& party = kConnection, bool may_use_reserve = false) {
    testing::Require(in_flight_->Begin(), "it is open");
    Holding holding;
    const Room room = in_flight_->Hold(party, bytes, may_use_reserve, &holding);
    if (room == Room::kGranted) {
      calls_.push_back(holding);
    } else {
      in_flight_->End(holding);
    }
    return room;
  }

  // Of the call that was let in last.
  Parking Park(const std::string& connection, WaitFor what = WaitFor::kTasks) {
    return in_flight_->Park(connection, what, calls_.back());
  }
  Parking CallAndPark(const std::string& connection, WaitFor what = WaitFor::kTasks,
                      const Party& party = kConnection) {
    testing::Require(Call(0, party) == Room::kGranted, "there is room");
    return Park(connection, what);
  }

  void EndFirst() {
    in_flight_->End(calls_.front());
    calls_.pop_front();
  }

  std::unique_ptr<InFlight> in_flight_ = std::make_unique<InFlight>();
  std::deque<Holding> calls_;
};

TEST_F(InFlightTest, BytesAreGrantedUpToTheLimitAndGivenBackAtTheEnd) {
  Begin(Shared({.calls = 10, .bytes = 100}));
  EXPECT_EQ(Call(60), Room::kGranted);
  EXPECT_EQ(Call(41), Room::kBrokerIsFull);
  EXPECT_EQ(Call(40), Room::kGranted);
  EndFirst();
  EXPECT_EQ(Call(60), Room::kGranted);
}

TEST_F(InFlightTest, ALargeAnswerKeepsRequestsOutUntilItIsSent) {
  Begin(Shared({.calls = 10, .bytes = 100}));
  ASSERT_EQ(Call(0), Room::kGranted);
  in_flight_->Add(1000, &calls_.back());
  EXPECT_EQ(Call(1), Room::kBrokerIsFull);
  EndFirst();
  EXPECT_EQ(Call(1), Room::kGranted);
}

TEST_F(InFlightTest, CallsBeyondTheLimitGetNoRoom) {
  Begin(Shared({.calls = 2, .bytes = 100}));
  EXPECT_EQ(Call(1), Room::kGranted);
  EXPECT_EQ(Call(1), Room::kGranted);
  EXPECT_EQ(Call(1), Room::kBrokerIsFull);
}

TEST_F(InFlightTest, LeasesThatWaitTakeNoRoomFromOtherCalls) {
  Begin(Shared({.calls = 1, .bytes = 100, .parked = 1000, .parked_per_connection = 1000}));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(CallAndPark("peer"), Parking::kGranted);
  EXPECT_EQ(Call(1), Room::kGranted);
}

TEST_F(InFlightTest, OneConnectionMayNotTakeAllPlacesOfThoseThatWait) {
  Begin({.parked = 3, .parked_per_connection = 2});
  EXPECT_EQ(CallAndPark("greedy"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("greedy"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("greedy"), Parking::kConnectionIsFull);
  EXPECT_EQ(CallAndPark("other"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("third"), Parking::kBrokerIsFull);
  in_flight_->Unpark("greedy", WaitFor::kTasks, calls_.front());
  EXPECT_EQ(Park("third"), Parking::kGranted);
}

TEST_F(InFlightTest, WhoWaitsForTheEndOfATaskLeavesHalfOfThePlacesToWorkers) {
  Begin({.parked = 4, .parked_per_connection = 4});
  EXPECT_EQ(CallAndPark("a", WaitFor::kEndOfTask), Parking::kGranted);
  EXPECT_EQ(CallAndPark("b", WaitFor::kEndOfTask), Parking::kGranted);
  EXPECT_EQ(CallAndPark("c", WaitFor::kEndOfTask), Parking::kAwaitsAreFull);
  EXPECT_EQ(Park("d"), Parking::kGranted);
  in_flight_->Unpark("a", WaitFor::kEndOfTask, calls_.front());
  EXPECT_EQ(CallAndPark("c", WaitFor::kEndOfTask), Parking::kGranted);
  EXPECT_EQ(CallAndPark("d"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("d"), Parking::kBrokerIsFull);
}

TEST_F(InFlightTest, ConnectionsFromOneAddressLeavePlacesToWaitToOthers) {
  Begin({.parked = 4, .parked_per_connection = 2, .address_share = 50});
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40000"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40001"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40002"), Parking::kAddressIsFull);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40003", WaitFor::kTasks, kOther), Parking::kGranted);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.2:40000"), Parking::kGranted);
  in_flight_->Unpark("ipv4:192.0.2.1:40000", WaitFor::kTasks, calls_.front());
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40002"), Parking::kGranted);
}

TEST_F(InFlightTest, OneAddressMayNotTakeAllPlacesOfThoseWhoWaitForEnds) {
  Begin({.parked = 8, .parked_per_connection = 8, .address_share = 50});
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40000", WaitFor::kEndOfTask), Parking::kGranted);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40001", WaitFor::kEndOfTask), Parking::kGranted);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40002", WaitFor::kEndOfTask), Parking::kAddressIsFull);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40002"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.2:40000", WaitFor::kEndOfTask), Parking::kGranted);
}

TEST_F(InFlightTest, AllAtOneAddressShareThePlacesIfThatIsSaid) {
  Begin({.parked = 2, .parked_per_connection = 1, .address_share = 100});
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40000"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40001"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("ipv4:192.0.2.1:40002"), Parking::kBrokerIsFull);
}

TEST_F(InFlightTest, AReserveIsKeptForThoseWhoMayUseIt) {
  Begin(Shared({.calls = 1, .bytes = 100, .reserved_calls = 1, .reserved_bytes = 50}));
  EXPECT_EQ(Call(100), Room::kGranted);
  EXPECT_EQ(Call(1), Room::kBrokerIsFull);
  EXPECT_EQ(Call(51, kConnection, true), Room::kBrokerIsFull);
  EXPECT_EQ(Call(50, kConnection, true), Room::kGranted);
  EXPECT_EQ(Call(0, kConnection, true), Room::kBrokerIsFull);
}

TEST_F(InFlightTest, APartyHasItsPartOfTheCallsAndLeavesTheOthersTheirs) {
  Begin({.calls = 4, .bytes = 1000, .principal_share = 50});
  for (const Party& party : {kGreedy, kConnection}) {
    EXPECT_EQ(Call(1, party), Room::kGranted);
    EXPECT_EQ(Call(1, party), Room::kGranted);
    EXPECT_EQ(Call(1, party), Room::kPartyHasTooManyCalls);
    EndFirst();
    EXPECT_EQ(Call(1, party), Room::kGranted);
    EndFirst();
    EndFirst();
  }
}

TEST_F(InFlightTest, APartyHasItsPartOfTheBytesAnswersIncluded) {
  Begin({.calls = 100, .bytes = 100, .principal_share = 60});
  EXPECT_EQ(Call(61, kGreedy), Room::kPartyHasTooManyBytes);
  EXPECT_EQ(Call(40, kGreedy), Room::kGranted);
  in_flight_->Add(20, &calls_.back());
  EXPECT_EQ(Call(1, kGreedy), Room::kPartyHasTooManyBytes);
  EXPECT_EQ(Call(40, kOther), Room::kGranted);
  EXPECT_EQ(Call(1, kOther), Room::kBrokerIsFull);
  EndFirst();
  EXPECT_EQ(Call(60, kGreedy), Room::kGranted);
}

TEST_F(InFlightTest, TasksThatAPartyHasNotReadTakeNoRoomFromOthers) {
  Begin({.calls = 100, .bytes = 1000, .principal_share = 50});
  ASSERT_EQ(Call(1, kGreedy), Room::kGranted);
  in_flight_->AddToParty(5000, &calls_.back());
  EXPECT_EQ(Call(1, kGreedy), Room::kPartyHasTooManyBytes);
  EXPECT_EQ(Call(400, kOther), Room::kGranted);
  EndFirst();
  EXPECT_EQ(Call(400, kGreedy), Room::kGranted);
}

TEST_F(InFlightTest, APartyHasItsPartOfTheReserveToo) {
  Begin({.calls = 2, .bytes = 100, .reserved_calls = 2, .reserved_bytes = 20,
         .principal_share = 50});
  EXPECT_EQ(Call(50, kGreedy), Room::kGranted);
  EXPECT_EQ(Call(0, kGreedy), Room::kPartyHasTooManyCalls);
  EXPECT_EQ(Call(11, kGreedy, true), Room::kPartyHasTooManyBytes);
  EXPECT_EQ(Call(10, kGreedy, true), Room::kGranted);
  EXPECT_EQ(Call(0, kGreedy, true), Room::kPartyHasTooManyCalls);
  EXPECT_EQ(Call(0, kOther, true), Room::kGranted);
}

TEST_F(InFlightTest, APrincipalHasItsPartOfThePlacesOfThoseThatWait) {
  Begin({.calls = 100, .parked = 4, .parked_per_connection = 4, .principal_share = 50});
  EXPECT_EQ(CallAndPark("a", WaitFor::kTasks, kGreedy), Parking::kGranted);
  EXPECT_EQ(CallAndPark("b", WaitFor::kTasks, kGreedy), Parking::kGranted);
  EXPECT_EQ(CallAndPark("c", WaitFor::kTasks, kGreedy), Parking::kPrincipalIsFull);
  EXPECT_EQ(CallAndPark("d", WaitFor::kTasks, kOther), Parking::kGranted);
  in_flight_->Unpark("a", WaitFor::kTasks, calls_.front());
  EXPECT_EQ(CallAndPark("c", WaitFor::kTasks, kGreedy), Parking::kGranted);
}

TEST_F(InFlightTest, APrincipalHasItsPartOfThePlacesOfThoseThatWaitForTheEndOfATask) {
  Begin({.calls = 100, .parked = 8, .parked_per_connection = 8, .principal_share = 50});
  EXPECT_EQ(CallAndPark("a", WaitFor::kEndOfTask, kGreedy), Parking::kGranted);
  EXPECT_EQ(CallAndPark("b", WaitFor::kEndOfTask, kGreedy), Parking::kGranted);
  EXPECT_EQ(CallAndPark("c", WaitFor::kEndOfTask, kGreedy), Parking::kPrincipalIsFull);
  EXPECT_EQ(Park("c"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("d", WaitFor::kEndOfTask, kOther), Parking::kGranted);
  in_flight_->Unpark("a", WaitFor::kEndOfTask, calls_.front());
  EXPECT_EQ(CallAndPark("c", WaitFor::kEndOfTask, kGreedy), Parking::kGranted);
}

// It has a limit of calls that wait already, which may be raised for a proxy.
TEST_F(InFlightTest, AConnectionMayHaveAllPlacesOfThoseThatWait) {
  Begin({.calls = 100, .parked = 2, .parked_per_connection = 2, .principal_share = 1});
  EXPECT_EQ(CallAndPark("a"), Parking::kGranted);
  EXPECT_EQ(CallAndPark("a"), Parking::kGranted);
}

TEST_F(InFlightTest, WhatWaitsTakesNoRoomFromOtherCallsOfItsParty) {
  Begin({.calls = 2, .bytes = 100, .parked = 10, .principal_share = 50});
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(CallAndPark("peer", WaitFor::kTasks, kGreedy), Parking::kGranted);
  }
  EXPECT_EQ(Call(1, kGreedy), Room::kGranted);
}

TEST_F(InFlightTest, ADrainWaitsForThoseThatWait) {
  ASSERT_EQ(CallAndPark("peer"), Parking::kGranted);
  EXPECT_FALSE(in_flight_->WaitForNone(std::chrono::steady_clock::now()));
  in_flight_->Unpark("peer", WaitFor::kTasks, calls_.front());
  EndFirst();
  EXPECT_TRUE(in_flight_->WaitForNone(std::chrono::steady_clock::now()));
}

TEST_F(InFlightTest, NoneIsLetInAfterTheEnd) {
  ASSERT_TRUE(in_flight_->Begin());
  in_flight_->Close();
  EXPECT_FALSE(in_flight_->Begin());
  EXPECT_FALSE(in_flight_->WaitForNone(std::chrono::steady_clock::now()));
  in_flight_->End({});
  EXPECT_TRUE(in_flight_->WaitForNone(std::chrono::steady_clock::now()));
}

TEST(SharesTest, ThoseThatHaveNothingAreForgottenWhenThereAreMany) {
  Shares shares;
  Share& busy = shares.Of({"busy"});
  shares.BeginCall(busy);
  for (size_t i = 0; i < 10 * Shares::kIdleMax; ++i) {
    const std::string name = absl::StrCat("ipv4:", i);
    Share& share = shares.Of({name});
    shares.BeginCall(share);
    shares.EndCall(share);
    ASSERT_LE(shares.size(), Shares::kIdleMax + 1);
  }
  EXPECT_EQ(&shares.Of({"busy"}), &busy);
  EXPECT_EQ(busy.calls, 1);
}

TEST(SharesTest, ThoseThatCallAgainAreKnown) {
  Shares shares;
  Share& first = shares.Of({"a"});
  for (int i = 0; i < 10000; ++i) {
    Share& share = shares.Of({"a"});
    ASSERT_EQ(&share, &first);
    shares.BeginCall(share);
    shares.EndCall(share);
  }
}

}  // namespace
}  // namespace skiplane::rpc
