// Requests that take longer than a moment, and the others beside them.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/server_fixture.h"

namespace skiplane::http {
namespace {

using ::testing::StartsWith;

class WorkerTest : public ServerTest {
 protected:
  void SetUp() override {
    limits_.threads = 1;
    limits_.quick_body_bytes = 1000;
  }
  void TearDown() override { echo_.Release(); }

  static std::string Large(absl::string_view path) { return Post(std::string(1001, 'x'), path); }
};

TEST_F(WorkerTest, ALargeBodyHoldsNobodyUp) {
  Start();
  const net::Socket large = Connect();
  ASSERT_TRUE(large.Send(Large("/hold")));
  echo_.AwaitHeld("/hold", 1);
  EXPECT_EQ(StatusOf(Post("small")), 200);
  echo_.Release();
  EXPECT_THAT(ReadAnswer(large, std::string(1001, 'x')), StartsWith("HTTP/1.1 200 "));
}

TEST_F(WorkerTest, WhatIsSentAheadIsAnsweredAfterIt) {
  Start();
  const net::Socket socket = Connect();
  ASSERT_TRUE(socket.Send(Large("/hold") + Post("next")));
  echo_.AwaitHeld("/hold", 1);
  EXPECT_EQ(StatusOf(Post("other")), 200);
  echo_.Release();
  ReadAnswer(socket, std::string(1001, 'x'));
  EXPECT_THAT(ReadAnswer(socket, "next"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(WorkerTest, OnePageWithMetricsIsMadeAtATime) {
  limits_.workers = 2;
  Start();
  const net::Socket first = Connect();
  const net::Socket second = Connect();
  for (const net::Socket* const socket : {&first, &second}) {
    ASSERT_TRUE(socket->Send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"));
  }
  echo_.AwaitHeld("/metrics", 1);
  // The second page waits and leaves a worker to others.
  const net::Socket large = Connect();
  ASSERT_TRUE(large.Send(Large("/hold")));
  echo_.AwaitHeld("/hold", 1);
  EXPECT_EQ(echo_.held("/metrics"), 1);
  EXPECT_EQ(StatusOf(Post("small")), 200);
  echo_.Release();
  for (const net::Socket* const socket : {&first, &second}) {
    EXPECT_THAT(ReadAnswer(*socket, ""), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(WorkerTest, WhoLeftBeforeAWorkerCameIsNotHandled) {
  limits_.workers = 1;
  Start();
  const net::Socket busy = Connect();
  ASSERT_TRUE(busy.Send(Large("/hold")));
  echo_.AwaitHeld("/hold", 1);
  net::Socket leaving = Connect();
  ASSERT_TRUE(leaving.Send(Large("/wait")));
  leaving.Close();
  EXPECT_EQ(StatusOf(Post("small")), 200);  // came behind it
  AwaitConnections(1);
  const net::Socket last = Connect();
  ASSERT_TRUE(last.Send(Large("/")));
  echo_.Release();
  EXPECT_THAT(ReadAnswer(last, std::string(1001, 'x')), StartsWith("HTTP/1.1 200 "));
  EXPECT_FALSE(echo_.HasWaiting());
}

TEST_F(WorkerTest, AStopWaitsForThem) {
  Start();
  const net::Socket large = Connect();
  ASSERT_TRUE(large.Send(Large("/hold")));
  echo_.AwaitHeld("/hold", 1);
  std::thread releaser([&] {
    large.IsTurnedAway();  // cut off by the stop
    echo_.Release();
  });
  server_->Stop(absl::ZeroDuration());
  EXPECT_EQ(echo_.held("/hold"), 0);
  releaser.join();
}

}  // namespace
}  // namespace skiplane::http
