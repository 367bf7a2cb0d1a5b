// Where a server listens, by what it was told.
#include "server/net/listen_sockets.h"

#include <netinet/tcp.h>
#include <poll.h>

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/net/socket.h"
#include "tests/support/require.h"

namespace skiplane::net {
namespace {

using ::testing::HasSubstr;

TEST(ListenSockets, AnyAddressTakesBothKinds) {
  const ListenSockets sockets = testing::Required(ListenSockets::Open("0.0.0.0:0"));
  EXPECT_GT(sockets.port(), 0);
  EXPECT_EQ(sockets.fds().size(), 1U);
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(sockets.fds()[0], reinterpret_cast<sockaddr*>(&address), &length);
  EXPECT_EQ(address.ss_family, AF_INET6);
  pollfd caller = {sockets.fds()[0], POLLIN, 0};
  const Socket ipv4 = Socket::ConnectedTo(sockets.port());
  EXPECT_EQ(poll(&caller, 1, 60000), 1);
}

TEST(ListenSockets, AllAddressesOfANameTakeTheSamePort) {
  const ListenSockets sockets = testing::Required(ListenSockets::Open("localhost:0"));
  EXPECT_FALSE(sockets.fds().empty());
  std::set<int> ports;
  for (const int fd : sockets.fds()) {
    sockaddr_in6 address{};
    socklen_t length = sizeof(address);
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
    ports.insert(ntohs(address.sin6_port));  // at the same place in both kinds
  }
  EXPECT_THAT(ports, ::testing::ElementsAre(sockets.port()));
}

TEST(ListenSockets, AnAddressThatANameHasTwiceIsListenedOnOnce) {
  const std::string name = "127.0.0.1";
  addrinfo* one = nullptr;
  addrinfo* other = nullptr;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  ASSERT_EQ(getaddrinfo(name.c_str(), "0", &hints, &one), 0);
  ASSERT_EQ(getaddrinfo(name.c_str(), "0", &hints, &other), 0);
  one->ai_next = other;
  const ListenSockets sockets = testing::Required(ListenSockets::BindTo(one, name));
  EXPECT_EQ(sockets.fds().size(), 1U);
  freeaddrinfo(one);  // frees both
}

TEST(ListenSockets, SaysWhyItCannotListen) {
  const Socket taken = Socket::Listening();
  const std::string address = absl::StrCat("127.0.0.1:", taken.port());
  const absl::Status in_use = ListenSockets::Open(address).status();
  EXPECT_EQ(in_use.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(in_use.message()), HasSubstr(address));
  EXPECT_THAT(std::string(in_use.message()), HasSubstr("in use"));
  EXPECT_THAT(std::string(ListenSockets::Open("192.0.2.1:7070").status().message()),
              HasSubstr("192.0.2.1:7070"));
  EXPECT_THAT(std::string(ListenSockets::Open("no-such-host.invalid:7070").status().message()),
              HasSubstr("no-such-host.invalid"));
}

// Callers would wait in the kernel's queue for as long as a migration takes.
TEST(ListenSockets, APortThatIsBoundTurnsCallersAwayUntilItIsListenedOn) {
  ListenSockets sockets = testing::Required(ListenSockets::Bind("127.0.0.1:0"));
  const int caller = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(sockets.fds()[0], reinterpret_cast<sockaddr*>(&address), &length);
  EXPECT_EQ(connect(caller, reinterpret_cast<sockaddr*>(&address), length), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  EXPECT_TRUE(sockets.Listen().ok());
  EXPECT_EQ(connect(caller, reinterpret_cast<sockaddr*>(&address), length), 0);
  close(caller);
}

TEST(ListenSockets, OfTwoThatBindAtTheSameTimeTheSlowerIsTold) {
  ListenSockets first = testing::Required(ListenSockets::Bind("127.0.0.1:0"));
  const std::string address = absl::StrCat("127.0.0.1:", first.port());
  ListenSockets second = testing::Required(ListenSockets::Bind(address));
  EXPECT_TRUE(second.Listen().ok());
  EXPECT_THAT(std::string(first.Listen().message()), HasSubstr(absl::StrCat("cannot listen on ")));
}

TEST(ListenSockets, AcceptedConnectionsInheritTheOptions) {
  const ListenSockets sockets = testing::Required(ListenSockets::Open("127.0.0.1:0"));
  const Socket caller = Socket::ConnectedTo(sockets.port());
  pollfd waiting = {sockets.fds()[0], POLLIN, 0};
  ASSERT_EQ(poll(&waiting, 1, 60000), 1);
  const int fd = accept4(sockets.fds()[0], nullptr, nullptr, SOCK_CLOEXEC);
  for (const int option : {TCP_NODELAY, TCP_USER_TIMEOUT}) {
    int value = 0;
    socklen_t length = sizeof(value);
    ASSERT_EQ(getsockopt(fd, IPPROTO_TCP, option, &value, &length), 0);
    EXPECT_GT(value, 0) << option;
  }
  close(fd);
}

}  // namespace
}  // namespace skiplane::net
