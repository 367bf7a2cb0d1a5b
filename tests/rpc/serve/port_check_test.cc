// Whether a server notices that its port does not answer.
#include "server/rpc/serve/port_check.h"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "server/base/mutex.h"
#include "server/net/acceptor.h"
#include "tests/net/socket.h"
#include "tests/support/require.h"

namespace skiplane::rpc {
namespace {

class PortCheckTest : public ::testing::Test {
 protected:
  void Begin(int listen_fd, absl::Duration patience) {
    PortCheck::Options options;
    options.listen_fd = listen_fd;
    options.every = absl::Milliseconds(1);
    options.after_failure = absl::Milliseconds(1);
    options.patience = patience;
    check_ = std::make_unique<PortCheck>(options, PortCheck::Listener{
                                                      [this](int port) { Expect(port); },
                                                      [this](bool answers) { Tell(answers); }});
  }

  virtual void Expect(int port) {
    base::MutexLock lock(mutex_);
    checks_ += port != 0 ? 1 : 0;
    changed_.NotifyAll();
  }

  void Tell(bool answers) {
    base::MutexLock lock(mutex_);
    told_ = answers;
    changed_.NotifyAll();
  }

  // False if that is not told within a generous time.
  bool WaitUntilTold(bool answers) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    base::MutexLock lock(mutex_);
    while (told_ != answers) {
      if (!changed_.WaitUntil(mutex_, end)) return told_ == answers;
    }
    return true;
  }

  bool WaitForChecks(int count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    base::MutexLock lock(mutex_);
    while (checks_ < count) {
      if (!changed_.WaitUntil(mutex_, end)) return checks_ >= count;
    }
    return true;
  }

  std::optional<bool> Told() {
    base::MutexLock lock(mutex_);
    return told_;
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  int checks_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<bool> told_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<PortCheck> check_;
};

void Greet(int, int fd) {
  send(fd, "!", 1, MSG_NOSIGNAL);
  close(fd);
}

TEST_F(PortCheckTest, TellsOfAPortThatNobodyServesAndWhenItIsServedAgain) {
  net::ListenSockets sockets = testing::Required(net::ListenSockets::Open("127.0.0.1:0"));
  Begin(sockets.fds()[0], absl::Milliseconds(20));
  EXPECT_TRUE(WaitUntilTold(false));
  metrics::Metrics metrics("test", "test");
  net::Acceptor acceptor(std::move(sockets), {1000}, metrics, "grpc");
  acceptor.Start(&Greet);
  EXPECT_TRUE(WaitUntilTold(true));
  check_.reset();
}

TEST_F(PortCheckTest, FindsTheWayToAPortOfAnyAddress) {
  metrics::Metrics metrics("test", "test");
  net::Acceptor acceptor(testing::Required(net::ListenSockets::Open("[::]:0")), {1000}, metrics,
                         "grpc");
  acceptor.Start(&Greet);
  Begin(acceptor.sockets().fds()[0], absl::Minutes(1));
  EXPECT_TRUE(WaitForChecks(10));
  check_.reset();
  EXPECT_EQ(Told(), std::nullopt);
}

TEST_F(PortCheckTest, EndsAtOnceInTheMiddleOfACheck) {
  const net::Socket silent = net::Socket::Listening();
  Begin(silent.fd(), absl::Hours(1));
  EXPECT_TRUE(WaitForChecks(1));
  check_.reset();
  EXPECT_EQ(Told(), std::nullopt);
}

// A server that lets nobody in but its own port check.
class FullPortTest : public PortCheckTest {
 protected:
  FullPortTest()
      : acceptor_(testing::Required(net::ListenSockets::Open("127.0.0.1:0")), {0}, metrics_,
                  "grpc") {
    acceptor_.Start(&Greet);
  }
  ~FullPortTest() override { check_.reset(); }

  void Expect(int port) override {
    acceptor_.ExpectPortCheck(port);
    PortCheckTest::Expect(port);
  }

  metrics::Metrics metrics_{"test", "test"};
  net::Acceptor acceptor_;
};

TEST_F(FullPortTest, IsCheckedThoughItIsFull) {
  Begin(acceptor_.sockets().fds()[0], absl::Minutes(1));
  EXPECT_TRUE(WaitForChecks(10));
  EXPECT_TRUE(net::Socket::ConnectedTo(acceptor_.sockets().port()).IsTurnedAway());
  check_.reset();
  EXPECT_EQ(Told(), std::nullopt);
}

}  // namespace
}  // namespace skiplane::rpc
