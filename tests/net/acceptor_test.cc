// How many connections are let in, and what becomes of the others.
#include "server/net/acceptor.h"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/mutex.h"
#include "tests/net/socket.h"
#include "tests/support/require.h"

namespace skiplane::net {
namespace {

using ::testing::HasSubstr;

// A line of the page with metrics.
std::string Line(absl::string_view metric, int value) {
  return absl::StrCat("\n", metric, "{port=\"grpc\"} ", value, "\n");
}

// Stands for gRPC: takes connections and closes them when told to.
class AcceptorTest : public ::testing::Test {
 protected:
  ~AcceptorTest() override {
    if (acceptor_ != nullptr) acceptor_->Stop();
    CloseAll();
  }

  void Begin(int connections_max, int address_share = 100) {
    acceptor_ = std::make_unique<Acceptor>(testing::Required(ListenSockets::Open("127.0.0.1:0")),
                                           ConnectionLimits{connections_max, address_share},
                                           metrics_, "grpc");
    port_ = acceptor_->sockets().port();
    acceptor_->Start([this](int, int fd) {
      base::MutexLock lock(mutex_);
      taken_.push_back(fd);
      changed_.NotifyAll();
    });
  }

  Socket Connect() const { return Socket::ConnectedTo(port_); }

  // From another address than Connect().
  Socket ConnectFromElsewhere() const {
    Socket elsewhere;
    const sockaddr_in other = {AF_INET, 0, {htonl(INADDR_LOOPBACK + 1)}, {}};
    bind(elsewhere.fd(), reinterpret_cast<const sockaddr*>(&other), sizeof(other));
    elsewhere.ConnectTo(port_);
    return elsewhere;
  }

  // Of those that Connect() makes.
  static std::string Party() { return SocketAddress::LoopbackIpv4(0).Party(); }

  int64_t TakenFrom(const std::string& party) {
    base::MutexLock lock(mutex_);
    return std::ranges::count_if(
        taken_, [&](int fd) { return SocketAddress::PeerOf(fd).Party() == party; });
  }

  // False if that many are not taken within a generous time.
  bool WaitForTaken(size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    base::MutexLock lock(mutex_);
    while (taken_.size() < count) {
      if (!changed_.WaitUntil(mutex_, end)) return taken_.size() >= count;
    }
    return true;
  }

  void WaitForFailure() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (absl::StrContains(metrics_.Text(), Line("skiplane_accept_failures_total", 0))) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
  }

  void CloseAll() {
    base::MutexLock lock(mutex_);
    for (const int fd : taken_) close(fd);
    taken_.clear();
  }

  // A place may be noticed as free a moment after it is: those who come again get it.
  Socket ConnectUntilTaken() {
    for (;;) {
      Socket caller = Connect();
      pollfd refused = {caller.fd(), POLLIN, 0};
      while (poll(&refused, 1, 1) == 0) {
        base::MutexLock lock(mutex_);
        if (!taken_.empty()) return caller;
      }
    }
  }

  metrics::Metrics metrics_{"test", "test"};
  std::unique_ptr<Acceptor> acceptor_;
  int port_ = 0;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<int> taken_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(AcceptorTest, ConnectionsAboveTheLimitAreClosedAtOnceAndCounted) {
  Begin(2);
  const Socket first = Connect();
  const Socket second = Connect();
  ASSERT_TRUE(WaitForTaken(2));
  EXPECT_TRUE(Connect().IsTurnedAway());
  EXPECT_TRUE(Connect().IsTurnedAway());
  acceptor_->Stop();
  EXPECT_THAT(metrics_.Text(), HasSubstr(Line("skiplane_connections_refused_total", 2)));
  EXPECT_THAT(metrics_.Text(), HasSubstr(Line("skiplane_connections", 2)));
  EXPECT_THAT(metrics_.Text(), HasSubstr(Line("skiplane_max_connections", 2)));
}

TEST_F(AcceptorTest, APlaceThatBecomesFreeIsGivenAgain) {
  Begin(1);
  Socket first = Connect();
  ASSERT_TRUE(WaitForTaken(1));
  EXPECT_TRUE(Connect().IsTurnedAway());
  CloseAll();
  const Socket next = ConnectUntilTaken();
  EXPECT_TRUE(WaitForTaken(1));
}

TEST_F(AcceptorTest, OneAddressLeavesRoomForOthers) {
  Begin(4, 50);
  const Socket first = Connect();
  const Socket second = Connect();
  ASSERT_TRUE(WaitForTaken(2));
  EXPECT_TRUE(Connect().IsTurnedAway());
  const Socket elsewhere = ConnectFromElsewhere();
  EXPECT_TRUE(WaitForTaken(3));
}

TEST_F(AcceptorTest, TheProcessItselfIsLetInAboveTheLimit) {
  Begin(1);
  const Socket first = Connect();
  ASSERT_TRUE(WaitForTaken(1));
  Socket port_check;
  const sockaddr_in any = {AF_INET, 0, {0}, {}};
  ASSERT_EQ(bind(port_check.fd(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)), 0);
  acceptor_->ExpectPortCheck(port_check.port());
  EXPECT_TRUE(Connect().IsTurnedAway());
  port_check.ConnectTo(port_);
  EXPECT_TRUE(WaitForTaken(2));
}

TEST_F(AcceptorTest, AsManySuspectsAreHandedOnAsItIsToldTo) {
  Begin(10);
  acceptor_->Suspect(Party());
  acceptor_->Ration(0);
  const Socket callers[] = {Connect(), Connect(), Connect()};
  acceptor_->Ration(2);
  ASSERT_TRUE(WaitForTaken(2));
  const Socket other = ConnectFromElsewhere();
  ASSERT_TRUE(WaitForTaken(3)) << "the third caller would have come before it";
  EXPECT_EQ(TakenFrom(Party()), 2);
}

TEST_F(AcceptorTest, WhoHadToWaitIsHandedOnLater) {
  Begin(10);
  acceptor_->Suspect(Party());
  acceptor_->Ration(1);
  const Socket callers[] = {Connect(), Connect(), Connect()};
  ASSERT_TRUE(WaitForTaken(1));
  acceptor_->Ration(Acceptor::kUnbounded);
  EXPECT_TRUE(WaitForTaken(3));
}

TEST_F(AcceptorTest, WhoIsNoSuspectWaitsForNobody) {
  Begin(10);
  acceptor_->Ration(0);
  const Socket caller = Connect();
  EXPECT_TRUE(WaitForTaken(1));
}

TEST_F(AcceptorTest, AConnectionThatWasCutWhileItWaitedTakesNothingOfOthers) {
  Begin(10);
  acceptor_->Suspect(Party());
  acceptor_->Ration(0);
  const Socket callers[] = {Connect(), Connect()};
  std::vector<Connection> waiting;
  while ((waiting = acceptor_->connections().List()).size() < 2) {
  }
  const int first = std::min(waiting[0].fd, waiting[1].fd);
  for (const Connection& one : waiting) {
    if (one.fd == first) {
      ASSERT_TRUE(one.Abort());
    }
  }
  acceptor_->Ration(1);
  ASSERT_TRUE(WaitForTaken(1));
  EXPECT_EQ(TakenFrom(Party()), 1);
}

// gRPC's own listener never accepts again after this.
TEST_F(AcceptorTest, AfterAWantOfDescriptorsItAcceptsAgain) {
  Begin(100);
  Socket early;
  Socket late;
  rlimit usual{};
  getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit none = {static_cast<rlim_t>(late.fd() + 1), usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  early.ConnectTo(port_);
  WaitForFailure();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  late.ConnectTo(port_);
  EXPECT_TRUE(WaitForTaken(2));
}

TEST_F(AcceptorTest, AfterTheEndThePortIsFree) {
  Begin(1);
  acceptor_->Stop();
  acceptor_->Stop();
  const auto again = ListenSockets::Open(absl::StrCat("127.0.0.1:", port_));
  EXPECT_TRUE(again.ok()) << again.status();
}

}  // namespace
}  // namespace skiplane::net
