// What a server of HTTP does with callers that do not read their answers.
#include <netinet/tcp.h>

#include <atomic>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/server_fixture.h"

namespace skiplane::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SlowReaderTest : public ServerTest {
 protected:
  void TearDown() override {
    exchanges_.clear();
    server_.reset();  // tells those that are left
  }

  // One for which the kernel keeps little: small segments, and little room at this end.
  net::Socket ConnectNarrow() const {
    net::Socket socket;
    const int segment = 536;
    const int room = 4096;
    setsockopt(socket.fd(), IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
    setsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    socket.ConnectTo(server_->port());
    return socket;
  }

  // Its request waits for an answer.
  std::shared_ptr<Exchange> Wait(const net::Socket& socket) {
    testing::Require(socket.Send(Post("", "/wait")), "the request is not taken");
    return echo_.AwaitWaiting();
  }

  // Begins an answer that is not read. That it came to its end would be told.
  std::shared_ptr<Exchange> AnswerUnread(const net::Socket& socket, size_t bytes) {
    auto exchange = Wait(socket);
    exchange->Begin({200, "text/plain", ""});
    exchange->Send(std::string(bytes, 'x'), [] { ADD_FAILURE() << "all was taken"; });
    testing::Require(socket.IsAnswered(), "the answer does not begin");
    return exchange;
  }

  std::vector<std::shared_ptr<Exchange>> exchanges_;
  std::atomic<int> left_ = 0;
  std::atomic<bool> has_last_left_ = false;
};

TEST_F(SlowReaderTest, WhoTakesNothingForAWhileIsCutOff) {
  limits_.write = absl::Milliseconds(100);
  Start();
  const net::Socket slow = ConnectNarrow();
  constexpr size_t kBytes = 4 << 20;
  const auto exchange = AnswerUnread(slow, kBytes);
  echo_.AwaitLeft();
  EXPECT_LT(slow.ReadToEnd().size(), kBytes);
}

TEST_F(SlowReaderTest, WhatIsNotReadTakesRoomFromRequestsUntilItsCallerIsGone) {
  limits_.bytes = 9 << 20;
  Start();
  net::Socket slow = ConnectNarrow();
  auto exchange = AnswerUnread(slow, 8 << 20);
  EXPECT_EQ(StatusOf(Post(std::string(2 << 20, 'y'))), 429);
  slow.Close();
  echo_.AwaitLeft();
  exchange.reset();
  AwaitStatus(200, Post(std::string(2 << 20, 'y')));
}

TEST_F(SlowReaderTest, TheSlowestMakeRoomForTheOthersAnswers) {
  constexpr int kSlow = 20;
  constexpr int kRoom = 7;
  limits_.bytes = (kRoom + 1) << 20;
  Start();
  const net::Socket prompt = Connect();
  std::vector<net::Socket> slow;
  for (int i = 0; i < kSlow; ++i) {
    slow.push_back(ConnectNarrow());
    auto exchange = Wait(slow.back());
    exchange->OnLeft([this, i] {
      if (i == kSlow - 1) has_last_left_ = true;
      ++left_;
      left_.notify_all();
    });
    exchange->Begin({200, "text/plain", ""});
    exchange->Send(std::string(1 << 20, 'x'), [] { ADD_FAILURE() << "all was taken"; });
    ASSERT_TRUE(slow.back().IsAnswered());
    exchanges_.push_back(std::move(exchange));
    // Meanwhile who reads is served, on the same connection.
    const std::string body = absl::StrCat("number ", i);
    ASSERT_TRUE(prompt.Send(Post(body)));
    ASSERT_THAT(ReadAnswer(prompt, body), StartsWith("HTTP/1.1 200 "));
  }
  // Which of them were slowest depends on the kernel; the last has just begun.
  for (int left = 0; left < kSlow - kRoom; left = left_) left_.wait(left);
  EXPECT_EQ(left_, kSlow - kRoom);
  EXPECT_FALSE(has_last_left_);
}

TEST_F(SlowReaderTest, AnAnswerCountsFromTheTimeThatItIsMade) {
  limits_.bytes = 1000;
  Start();
  const net::Socket first = Connect();
  auto exchange = Wait(first);
  exchange->Reserve(990);
  const net::Socket second = Connect();
  auto other = Wait(second);
  other->Reserve(20);
  echo_.AwaitLeft();
  exchange.reset();
  EXPECT_EQ(first.ReadToEnd(), "");
  other->Answer({200, "", "done"});
  EXPECT_THAT(ReadAnswer(second, "done"), HasSubstr(" 200 "));
  other.reset();
  AwaitStatus(200, Post("x"));
}

}  // namespace
}  // namespace skiplane::http
