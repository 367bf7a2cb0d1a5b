// What is read from the kernel's form of an address, and written to it.
#include "server/net/socket_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

namespace skiplane::net {
namespace {

SocketAddress Ipv6Loopback(int port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  return {reinterpret_cast<const sockaddr*>(&address), sizeof(address)};
}

TEST(SocketAddressTest, IsWrittenAsPeopleWriteIt) {
  EXPECT_EQ(SocketAddress::LoopbackIpv4(7070).Text(), "127.0.0.1:7070");
  EXPECT_EQ(Ipv6Loopback(7070).Text(), "[::1]:7070");
  EXPECT_EQ(SocketAddress::Any(AF_INET, 0).Text(), "0.0.0.0:0");
  EXPECT_EQ(SocketAddress().Text(), "");
}

TEST(SocketAddressTest, AnyIsOfBothKinds) {
  EXPECT_TRUE(SocketAddress::Any(AF_INET, 1).IsAny());
  EXPECT_TRUE(SocketAddress::Any(AF_INET6, 1).IsAny());
  EXPECT_FALSE(SocketAddress::LoopbackIpv4(1).IsAny());
  EXPECT_FALSE(Ipv6Loopback(1).IsAny());
  EXPECT_FALSE(SocketAddress().IsAny());
}

TEST(SocketAddressTest, ThePortIsNoPartOfTheHost) {
  SocketAddress moved = Ipv6Loopback(1);
  moved.set_port(65535);
  EXPECT_EQ(moved.port(), 65535);
  EXPECT_EQ(moved, Ipv6Loopback(65535));
  EXPECT_FALSE(moved == Ipv6Loopback(1));
  EXPECT_TRUE(moved.HasHostOf(Ipv6Loopback(1)));
  EXPECT_FALSE(moved.HasHostOf(SocketAddress::LoopbackIpv4(65535)));
}

TEST(SocketAddressTest, APartyHasAnAddressOfIpv4OrANetworkOfIpv6) {
  const auto ipv6 = [](const char* text, int port) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    return SocketAddress(reinterpret_cast<const sockaddr*>(&address), sizeof(address)).Party();
  };
  const std::string ipv4 = SocketAddress::LoopbackIpv4(1).Party();
  EXPECT_EQ(ipv4, SocketAddress::LoopbackIpv4(2).Party());
  EXPECT_EQ(ipv4, ipv6("::ffff:127.0.0.1", 3));
  EXPECT_NE(ipv4, ipv6("::ffff:127.0.0.2", 3));
  EXPECT_NE(ipv4, ipv6("::1", 3));
  EXPECT_EQ(ipv6("2001:db8:0:1::1", 1), ipv6("2001:db8:0:1:ffff::2", 2));
  EXPECT_NE(ipv6("2001:db8:0:1::1", 1), ipv6("2001:db8:0:2::1", 1));
  EXPECT_EQ(SocketAddress().Party(), "");
}

TEST(SocketAddressTest, ASocketTellsItsOwnAddress) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(fd, 0);
  const SocketAddress asked = SocketAddress::LoopbackIpv4(0);
  ASSERT_EQ(bind(fd, asked.get(), asked.length()), 0);
  const SocketAddress own = SocketAddress::OwnOf(fd);
  EXPECT_TRUE(own.HasHostOf(asked));
  EXPECT_GT(own.port(), 0);
  EXPECT_EQ(SocketAddress::PeerOf(fd), SocketAddress()) << "it is not connected";
  close(fd);
}

}  // namespace
}  // namespace skiplane::net
