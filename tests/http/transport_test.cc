#include "server/http/transport.h"

#include <fcntl.h>

#include <gtest/gtest.h>

#include "tests/net/socket.h"

namespace skiplane::http {
namespace {

TEST(Transport, ADescriptorThatCannotBeWatchedIsClosed) {
  boost::asio::io_context io;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto first = Transport::Of(io, fd, nullptr);
  ASSERT_NE(first, nullptr);
  // The kernel does not take it twice, as it would not take a first one for want of memory.
  EXPECT_EQ(Transport::Of(io, fd, nullptr), nullptr);
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

}  // namespace
}  // namespace skiplane::http
