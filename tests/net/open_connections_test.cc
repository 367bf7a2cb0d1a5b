// Which descriptors are still the connections that they were.
#include "server/net/open_connections.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace skiplane::net {
namespace {

int NewSocket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

TEST(OpenConnections, AClosedOneMakesRoom) {
  OpenConnections open(1);
  const int fd = NewSocket();
  open.Add(fd);
  EXPECT_FALSE(open.HasRoom());
  close(fd);
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 0);
  EXPECT_TRUE(open.HasRoom());
}

TEST(OpenConnections, ADescriptorThatStandsForSomethingElseByNowIsNoConnection) {
  OpenConnections open(10);
  const int fd = NewSocket();
  open.Add(fd);
  const int another = NewSocket();
  ASSERT_EQ(dup2(another, fd), fd);
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 0);

  open.Add(fd);
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(dup2(file, fd), fd);
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 0);
  for (const int one : {fd, another, file}) close(one);
}

TEST(OpenConnections, AnOpenOneIsKeptHoweverOftenOneLooks) {
  OpenConnections open(10);
  const int fd = NewSocket();
  open.Add(fd);
  open.RemoveClosed();
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 1);
  close(fd);
}

TEST(OpenConnections, AReusedDescriptorCountsOnce) {
  OpenConnections open(10);
  const int first = NewSocket();
  open.Add(first);
  close(first);
  const int second = NewSocket();
  ASSERT_EQ(second, first);
  open.Add(second);
  open.RemoveClosed();
  EXPECT_EQ(open.count(), 1);
  close(second);
}

}  // namespace
}  // namespace skiplane::net
