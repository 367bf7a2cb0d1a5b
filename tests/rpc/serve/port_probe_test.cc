// Whether a server notices that its port does not answer.
#include "server/rpc/serve/port_probe.h"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "server/base/mutex.h"
#include "server/rpc/serve/acceptor.h"
#include "tests/rpc/serve/socket.h"
#include "tests/support/require.h"

namespace skiplane::rpc {
namespace {

class PortProbeTest : public ::testing::Test {
 protected:
  void Begin(int listen_fd, absl::Duration patience) {
    PortProbe::Options options;
    options.listen_fd = listen_fd;
    options.every = absl::Milliseconds(1);
    options.after_failure = absl::Milliseconds(1);
    options.patience = patience;
    probe_ = std::make_unique<PortProbe>(options, PortProbe::Listener{
                                                      [this](int port) { Expect(port); },
                                                      [this](bool answers) { Tell(answers); }});
  }

  virtual void Expect(int port) {
    base::MutexLock lock(mutex_);
    probes_ += port != 0 ? 1 : 0;
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

  bool WaitForProbes(int count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    base::MutexLock lock(mutex_);
    while (probes_ < count) {
      if (!changed_.WaitUntil(mutex_, end)) return probes_ >= count;
    }
    return true;
  }

  std::optional<bool> Told() {
    base::MutexLock lock(mutex_);
    return told_;
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  int probes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<bool> told_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<PortProbe> probe_;
};

void Greet(int, int fd) {
  send(fd, "!", 1, MSG_NOSIGNAL);
  close(fd);
}

TEST_F(PortProbeTest, TellsOfAPortThatNobodyServesAndWhenItIsServedAgain) {
  ListenSockets sockets = testing::Required(ListenSockets::Open("127.0.0.1:0"));
  Begin(sockets.fds()[0], absl::Milliseconds(20));
  EXPECT_TRUE(WaitUntilTold(false));
  metrics::Metrics metrics("test", "test");
  Acceptor acceptor(std::move(sockets), 1000, metrics);
  acceptor.Start(&Greet);
  EXPECT_TRUE(WaitUntilTold(true));
  probe_.reset();
}

TEST_F(PortProbeTest, FindsTheWayToAPortOfAnyAddress) {
  metrics::Metrics metrics("test", "test");
  Acceptor acceptor(testing::Required(ListenSockets::Open("[::]:0")), 1000, metrics);
  acceptor.Start(&Greet);
  Begin(acceptor.sockets().fds()[0], absl::Minutes(1));
  EXPECT_TRUE(WaitForProbes(10));
  probe_.reset();
  EXPECT_EQ(Told(), std::nullopt);
}

TEST_F(PortProbeTest, EndsAtOnceInTheMiddleOfAProbe) {
  const Socket silent = Socket::Listening();
  Begin(silent.fd(), absl::Hours(1));
  EXPECT_TRUE(WaitForProbes(1));
  probe_.reset();
  EXPECT_EQ(Told(), std::nullopt);
}

// A server that lets nobody in but its own probe.
class FullPortTest : public PortProbeTest {
 protected:
  FullPortTest() : acceptor_(testing::Required(ListenSockets::Open("127.0.0.1:0")), 0, metrics_) {
    acceptor_.Start(&Greet);
  }
  ~FullPortTest() override { probe_.reset(); }

  void Expect(int port) override {
    acceptor_.ExpectProbe(port);
    PortProbeTest::Expect(port);
  }

  metrics::Metrics metrics_{"test", "test"};
  Acceptor acceptor_;
};

TEST_F(FullPortTest, IsProbedThoughItIsFull) {
  Begin(acceptor_.sockets().fds()[0], absl::Minutes(1));
  EXPECT_TRUE(WaitForProbes(10));
  EXPECT_TRUE(Socket::ConnectedTo(acceptor_.sockets().port()).IsTurnedAway());
  probe_.reset();
  EXPECT_EQ(Told(), std::nullopt);
}

}  // namespace
}  // namespace skiplane::rpc
