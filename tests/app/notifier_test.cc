#include "server/app/notifier.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace skiplane::app {
namespace {

using ::testing::MatchesRegex;

constexpr int kGenerousMs = 60'000;

// Listens as systemd does.
class NotifierTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = std::filesystem::temp_directory_path() / "skiplane-notify-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = ""};
    Path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    setenv("NOTIFY_SOCKET", Path().c_str(), /*overwrite=*/1);
  }

  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
    close(fd_);
    std::filesystem::remove_all(folder_);
  }

  std::string Path() const { return absl::StrCat(folder_, "/socket"); }

  // The next message; empty if none comes within the time.
  std::string Heard(int within_ms = kGenerousMs) const {
    pollfd heard{fd_, POLLIN, 0};
    if (poll(&heard, 1, within_ms) != 1) return "";
    char bytes[1024];
    const ssize_t size = recv(fd_, bytes, sizeof(bytes), 0);
    return size < 0 ? "" : std::string(bytes, static_cast<size_t>(size));
  }

 private:
  const int fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  std::string folder_;
};

TEST_F(NotifierTest, SystemdLearnsWhatTheBrokerDoesAndNothingElse) {
  {
    Notifier notifier;
    notifier.Ready("serving gRPC at 127.0.0.1:7070");
    notifier.Reloading();
    notifier.Ready("as before");
    notifier.Stopping();
  }
  EXPECT_EQ(Heard(), "READY=1\nSTATUS=serving gRPC at 127.0.0.1:7070");
  EXPECT_THAT(Heard(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*"));
  EXPECT_EQ(Heard(), "READY=1\nSTATUS=as before");
  EXPECT_EQ(Heard(), "STOPPING=1\nSTATUS=draining");
  EXPECT_EQ(Heard(/*within_ms=*/0), "");
}

TEST_F(NotifierTest, AWatchdogHearsAgainAndAgainThatTheBrokerIsNotFrozen) {
  setenv("WATCHDOG_USEC", "20000", /*overwrite=*/1);
  const Notifier notifier;
  for (int time = 0; time < 5; ++time) EXPECT_EQ(Heard(), "WATCHDOG=1");
}

TEST_F(NotifierTest, AWatchdogOfAnotherProcessHearsNothing) {
  setenv("WATCHDOG_USEC", "20000", /*overwrite=*/1);
  setenv("WATCHDOG_PID", absl::StrCat(getppid()).c_str(), /*overwrite=*/1);
  Notifier notifier;
  notifier.Stopping();
  EXPECT_EQ(Heard(), "STOPPING=1\nSTATUS=draining");
}

TEST_F(NotifierTest, WithoutSystemdNothingHappens) {
  unsetenv("NOTIFY_SOCKET");
  Notifier notifier;
  notifier.Ready("serving");
  EXPECT_EQ(Heard(/*within_ms=*/0), "");
}

}  // namespace
}  // namespace skiplane::app
