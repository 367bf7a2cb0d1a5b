// What is learned of, and done to, a connection whose descriptor is another's.
#include "server/net/connection.h"

#include <poll.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "tests/net/socket.h"

namespace skiplane::net {
namespace {

// A caller, and the accepted end of its connection.
class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest()
      : listening_(Socket::Listening()),
        caller_(Socket::ConnectedTo(listening_.port())),
        fd_(accept(listening_.fd(), nullptr, nullptr)),
        connection_{fd_, SocketNumber(fd_)} {}
  ~ConnectionTest() override { Close(); }

  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

  void WaitUntilReadable() const {
    pollfd one = {fd_, POLLIN, 0};
    ASSERT_EQ(poll(&one, 1, 60000), 1);
  }

  Socket listening_;
  Socket caller_;
  int fd_;
  Connection connection_;
};

TEST_F(ConnectionTest, ItTellsItsPeerAndWhatCame) {
  ASSERT_TRUE(connection_.Peer().has_value());
  EXPECT_EQ(connection_.Peer()->port(), caller_.port());
  EXPECT_EQ(connection_.BytesSoFar()->received, 0);
  ASSERT_TRUE(caller_.Send("12345"));
  WaitUntilReadable();
  EXPECT_EQ(connection_.BytesSoFar()->received, 5);
  EXPECT_EQ(connection_.BytesUnread(), 5);
  char text[2];
  ASSERT_EQ(read(fd_, text, sizeof(text)), 2);
  EXPECT_EQ(connection_.BytesUnread(), 3);
  EXPECT_EQ(connection_.BytesSoFar()->received, 5);
}

TEST_F(ConnectionTest, ItTellsWhatItsPeerHasReceived) {
  EXPECT_EQ(connection_.BytesSoFar()->acknowledged, 0);
  ASSERT_EQ(write(fd_, "12345", 5), 5);
  char bytes[5];
  ASSERT_EQ(recv(caller_.fd(), bytes, sizeof(bytes), MSG_WAITALL), 5);
  while (connection_.BytesSoFar()->acknowledged == 0) std::this_thread::yield();
  EXPECT_EQ(connection_.BytesSoFar()->acknowledged, 5);
}

TEST_F(ConnectionTest, AnAbortedOneIsOverForBothSidesAndWhatCameIsThrownAway) {
  ASSERT_TRUE(caller_.Send("12345"));
  WaitUntilReadable();
  EXPECT_TRUE(connection_.Abort());
  EXPECT_TRUE(caller_.IsTurnedAway());
  char bytes[5];
  EXPECT_LT(recv(fd_, bytes, sizeof(bytes), MSG_DONTWAIT), 1);
  EXPECT_EQ(SocketNumber(fd_), connection_.socket) << "the descriptor is its owner's";
}

TEST_F(ConnectionTest, AnEndedOneIsLeftAlone) {
  Socket another;
  const int fd = fd_;
  Close();
  EXPECT_FALSE(connection_.BytesSoFar().has_value());
  EXPECT_FALSE(connection_.Peer().has_value());
  EXPECT_FALSE(connection_.Abort());

  // The next connection has its descriptor.
  another.ConnectTo(listening_.port());
  fd_ = accept(listening_.fd(), nullptr, nullptr);
  ASSERT_EQ(fd_, fd);
  EXPECT_FALSE(connection_.BytesSoFar().has_value());
  EXPECT_FALSE(connection_.Peer().has_value());
  EXPECT_FALSE(connection_.Abort());
  ASSERT_TRUE(another.Send("1"));
  char byte = 0;
  EXPECT_EQ(recv(fd_, &byte, 1, 0), 1) << "the other's connection stands";
}

}  // namespace
}  // namespace skiplane::net
