// A server of HTTP with TLS: how connections begin and end.
#include <csignal>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/http/server_fixture.h"
#include "tests/http/tls_client.h"
#include "tests/net/certificate.h"

namespace skiplane::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The begin of a handshake: of 512 bytes that it announces it has three.
constexpr absl::string_view kHalfHello("\x16\x03\x01\x02\x00\x01\x00\x01", 8);

class TlsServerTest : public ServerTest {
 protected:
  TlsServerTest() { std::signal(SIGPIPE, SIG_IGN); }  // OpenSSL writes to who has closed

  void StartWithTls() { Start(testing::Required(net::ReadTlsFiles(net::MakePair("http")))); }

  TlsClient ConnectByTls() const { return TlsClient(Connect()); }
};

TEST_F(TlsServerTest, AHandshakeHasItsTime) {
  limits_.handshake = absl::Milliseconds(20);
  StartWithTls();
  const net::Socket silent = Connect();
  const net::Socket half = Connect();
  ASSERT_TRUE(half.Send(kHalfHello));
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(half.ReadToEnd(), "");
}

TEST_F(TlsServerTest, PeersThatDoNotGoOnHoldNobodyUp) {
  StartWithTls();
  std::vector<net::Socket> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(Connect());
    ASSERT_TRUE(slow.back().Send(kHalfHello.substr(0, static_cast<size_t>(i % 9))));
  }
  TlsClient client = ConnectByTls();
  ASSERT_TRUE(client.ShakeHands());
  ASSERT_TRUE(client.Send(Post("in")));
  EXPECT_THAT(client.ReadUntil("\r\n\r\nin"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(TlsServerTest, WhoDoesNotReadIsCutOff) {
  limits_.write = absl::Milliseconds(100);
  StartWithTls();
  TlsClient slow = ConnectByTls();
  ASSERT_TRUE(slow.ShakeHands());
  ASSERT_TRUE(slow.Send(Post("", "/wait")));
  const auto exchange = echo_.AwaitWaiting();
  exchange->Begin({200, "text/plain", ""});
  exchange->Send(std::string(48 << 20, 'x'), [] { ADD_FAILURE() << "all was taken"; });
  echo_.AwaitLeft();
}

TEST_F(TlsServerTest, ItSaysWhenItSendsNoMore) {
  StartWithTls();
  TlsClient client = ConnectByTls();
  ASSERT_TRUE(client.ShakeHands());
  ASSERT_TRUE(client.Send("POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nin"));
  EXPECT_THAT(client.ReadUntil("\r\n\r\nin"), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(client.IsEnded());
}

TEST_F(TlsServerTest, WhoSendsTooMuchIsToldAndNotReset) {
  StartWithTls();
  for (int i = 0; i < 10; ++i) {
    TlsClient client = ConnectByTls();
    ASSERT_TRUE(client.ShakeHands());
    const int64_t size = limits_.body_bytes + 1;
    ASSERT_TRUE(client.Send(absl::StrCat("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ",
                                         size, "\r\n\r\n")));
    ASSERT_TRUE(client.Send(std::string(static_cast<size_t>(size), 'x')));
    EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  }
}

// Without a length nothing else tells a whole answer from one that was cut off.
TEST_F(TlsServerTest, TheEndOfAStreamCanBeToldFromACut) {
  StartWithTls();
  for (const bool is_whole : {true, false}) {
    TlsClient client = ConnectByTls();
    ASSERT_TRUE(client.ShakeHands());
    ASSERT_TRUE(client.Send("GET /wait HTTP/1.0\r\n\r\n"));
    auto exchange = echo_.AwaitWaiting();
    exchange->Begin({200, "text/plain", ""});
    exchange->Send("part", [] {});
    client.ReadUntil("part");
    if (is_whole) exchange->End();
    exchange.reset();
    if (!is_whole) server_->Stop(absl::ZeroDuration());
    EXPECT_EQ(client.IsEnded(), is_whole);
  }
}

TEST_F(TlsServerTest, ADrainAnswersThoseThatAreAboutToAsk) {
  StartWithTls();
  TlsClient idle = ConnectByTls();
  ASSERT_TRUE(idle.ShakeHands());
  ASSERT_TRUE(idle.Send(Post("in")));
  idle.ReadUntil("\r\n\r\nin");
  TlsClient waiting = ConnectByTls();
  ASSERT_TRUE(waiting.ShakeHands());
  ASSERT_TRUE(waiting.Send(Post("", "/wait")));
  const auto exchange = echo_.AwaitWaiting();
  TlsClient before = ConnectByTls();  // its handshake comes later
  server_->BeginDrain();
  EXPECT_EQ(idle.ReadUntil("x"), "");
  ASSERT_TRUE(before.ShakeHands());
  ASSERT_TRUE(before.Send(Post("late")));
  EXPECT_THAT(before.ReadUntil("\r\n\r\nlate"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("close\r\n")));
  EXPECT_TRUE(before.IsEnded());
  exchange->Answer({200, "", "done"});
  EXPECT_THAT(waiting.ReadUntil("\r\n\r\ndone"), HasSubstr("close\r\n"));
  EXPECT_TRUE(waiting.IsEnded());
}

}  // namespace
}  // namespace skiplane::http
