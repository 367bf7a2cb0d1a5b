// Which descriptors are still the connections that they were.
#include "server/net/open_connections.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skiplane::net {
namespace {

using Room = OpenConnections::Room;

int NewSocket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

TEST(OpenConnections, AClosedOneMakesRoom) {
  OpenConnections open({1});
  const int fd = NewSocket();
  open.Add(fd, "a");
  EXPECT_EQ(open.RoomFor("b"), Room::kFull);
  close(fd);
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 0);
  EXPECT_EQ(open.RoomFor("b"), Room::kFree);
}

TEST(OpenConnections, ADescriptorThatStandsForSomethingElseByNowIsNoConnection) {
  OpenConnections open({10});
  const int fd = NewSocket();
  open.Add(fd, "a");
  const int another = NewSocket();
  ASSERT_EQ(dup2(another, fd), fd);
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 0);

  open.Add(fd, "a");
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(dup2(file, fd), fd);
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 0);
  for (const int one : {fd, another, file}) close(one);
}

TEST(OpenConnections, AnOpenOneIsKeptHoweverOftenOneLooks) {
  OpenConnections open({10});
  const int fd = NewSocket();
  open.Add(fd, "a");
  open.RemoveClosed();
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 1);
  close(fd);
}

TEST(OpenConnections, AReusedDescriptorCountsOnce) {
  OpenConnections open({10});
  const int first = NewSocket();
  open.Add(first, "a");
  close(first);
  const int second = NewSocket();
  ASSERT_EQ(second, first);
  open.Add(second, "a");
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 1);
  close(second);
}

TEST(OpenConnections, OnePartyLeavesRoomForOthers) {
  OpenConnections open({.connections = 4, .address_share = 50});
  std::vector<int> all;
  const auto add = [&](const std::string& party) {
    all.push_back(NewSocket());
    open.Add(all.back(), party);
  };
  add("greedy");
  EXPECT_EQ(open.RoomFor("greedy"), Room::kFree);
  add("greedy");
  EXPECT_EQ(open.RoomFor("greedy"), Room::kPartyIsFull);
  EXPECT_EQ(open.RoomFor("other"), Room::kFree);
  add("other");
  close(all.front());
  open.RemoveClosed();
  EXPECT_EQ(open.RoomFor("greedy"), Room::kFree);
  for (size_t i = 1; i < all.size(); ++i) close(all[i]);
}

TEST(OpenConnections, ADescriptorCountsForWhoHasItNow) {
  OpenConnections open({.connections = 4, .address_share = 25});
  const int first = NewSocket();
  open.Add(first, "gone");
  close(first);
  const int second = NewSocket();
  ASSERT_EQ(second, first);
  open.Add(second, "here");
  EXPECT_EQ(open.RoomFor("gone"), Room::kFree);
  EXPECT_EQ(open.RoomFor("here"), Room::kPartyIsFull);
  close(second);
}

TEST(OpenConnections, APartIsRoundedUpSoThatItIsSomething) {
  EXPECT_EQ((ConnectionLimits{1, 1}.OfParty()), 1);
  EXPECT_EQ((ConnectionLimits{3, 80}.OfParty()), 3);
  EXPECT_EQ((ConnectionLimits{16000, 80}.OfParty()), 12800);
}

}  // namespace
}  // namespace skiplane::net
