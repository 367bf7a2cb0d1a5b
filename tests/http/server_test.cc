// What a server of HTTP does with connections: in order, in time, within bounds.
#include "server/http/server.h"

#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/server_fixture.h"

namespace skiplane::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(ServerTest, AnswersOneRequestAfterTheOther) {
  Start();
  const net::Socket socket = Connect();
  for (const char* body : {"one", "two"}) {
    ASSERT_TRUE(socket.Send(Post(body)));
    EXPECT_THAT(ReadAnswer(socket, body), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
}

TEST_F(ServerTest, AnAnswerToHeadHasNoBodyAndTheNextRequestIsAnswered) {
  Start();
  const net::Socket socket = Connect();
  ASSERT_TRUE(socket.Send("HEAD / HTTP/1.1\r\n\r\nHEAD /no HTTP/1.1\r\n\r\n" + Post("next")));
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("Content-Length"))));
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("Content-Length: 3\r\n")));
  EXPECT_THAT(ReadAnswer(socket, "next"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, ARefusedRequestWithoutABodyLeavesTheConnection) {
  Start();
  const net::Socket socket = Connect();
  ASSERT_TRUE(socket.Send("GET /no HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(ReadAnswer(socket, "no\n"), StartsWith("HTTP/1.1 404 "));
  ASSERT_TRUE(socket.Send(Post("still here")));
  EXPECT_THAT(ReadAnswer(socket, "still here"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, TheBodyOfARefusedRequestIsNotReadAndItsAnswerArrives) {
  Start();
  const net::Socket socket = Connect();
  socket.Send(Post(std::string(1 << 20, 'x'), "/no"));
  EXPECT_THAT(socket.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("close\r\n")));
}

TEST_F(ServerTest, ARequestThatDoesNotComeInTimeIsTold) {
  limits_.head = limits_.body = absl::Milliseconds(20);
  Start();
  for (const std::string& half : {std::string("GET / HT"), Post("x").substr(0, 40)}) {
    const net::Socket socket = Connect();
    ASSERT_TRUE(socket.Send(half));
    EXPECT_THAT(socket.ReadToEnd(), StartsWith("HTTP/1.1 408 ")) << half;
  }
}

TEST_F(ServerTest, AConnectionWithoutARequestIsClosedAfterAWhile) {
  limits_.idle = absl::Milliseconds(20);
  Start();
  const net::Socket socket = Connect();
  EXPECT_EQ(socket.ReadToEnd(), "");
}

TEST_F(ServerTest, AConnectionThatIsTooManyIsTurnedAway) {
  limits_.connections = 1;
  Start();
  const net::Socket inside = Connect();
  ASSERT_TRUE(inside.Send(Post("in")));
  ReadAnswer(inside, "in");
  EXPECT_TRUE(Connect().IsTurnedAway());
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("\nskiplane_connections_refused_total{port=\"http\"} 1\n"));
}

// Each has room by itself.
TEST_F(ServerTest, BodiesHalfReceivedAreBoundedTogether) {
  limits_.threads = 1;
  limits_.bytes = 6000;  // half of it for bodies
  limits_.free_body_bytes = 100;
  Start();
  const std::string request = Post(std::string(4000, 'x'));
  {
    const net::Socket first = Connect();
    const net::Socket second = Connect();
    for (const net::Socket* const socket : {&first, &second}) {
      ASSERT_TRUE(socket->Send(absl::string_view(request).substr(0, 2000)));
    }
    pollfd either[] = {{first.fd(), POLLIN, 0}, {second.fd(), POLLIN, 0}};
    ASSERT_GE(poll(either, 2, 60'000), 1);
    const bool is_first = either[0].revents != 0;
    const net::Socket& refused = is_first ? first : second;
    const net::Socket& taken = is_first ? second : first;
    EXPECT_THAT(refused.ReadToEnd(), StartsWith("HTTP/1.1 429 "));
    // Whose bytes are given back; the other's are there.
    ASSERT_TRUE(taken.Send(absl::string_view(request).substr(2000, 500)));
    EXPECT_EQ(StatusOf(Post(std::string(2000, 'x'))), 429);
    EXPECT_EQ(StatusOf(Post("small")), 200);
  }
  AwaitStatus(200, Post(std::string(2000, 'x')));  // once both are gone
}

TEST_F(ServerTest, BodiesFromOneAddressLeaveRoomForThoseOfOthers) {
  limits_.bytes = 60000;  // half of it for bodies
  limits_.free_body_bytes = 100;
  limits_.address_share = 5;
  Start();
  const net::Socket first = Connect();
  ASSERT_TRUE(first.Send(absl::string_view(Post(std::string(4000, 'x'))).substr(0, 1000)));
  AwaitStatus(429, Post(std::string(1400, 'x')));
  EXPECT_EQ(StatusOf(Post("small")), 200);
  net::Socket elsewhere;
  const sockaddr_in other = {AF_INET, 0, {htonl(INADDR_LOOPBACK + 1)}, {}};
  ASSERT_EQ(bind(elsewhere.fd(), reinterpret_cast<const sockaddr*>(&other), sizeof(other)), 0);
  elsewhere.ConnectTo(server_->port());
  ASSERT_TRUE(elsewhere.Send(Post(std::string(1400, 'x'))));
  EXPECT_THAT(elsewhere.ReadUntil("\r\n"), StartsWith("HTTP/1.1 200 "));
}

// gRPC and the services keep their messages as long.
TEST_F(ServerTest, BodiesOfCallsThatWaitAreBoundedTogether) {
  limits_.bytes = 6000;  // half of it for bodies
  limits_.free_body_bytes = 100;
  for (const size_t quick_body_bytes : {1, 100000}) {  // by a worker, and not
    limits_.quick_body_bytes = quick_body_bytes;
    server_.reset();
    Start();
    const std::string large(2000, 'x');
    const net::Socket first = Connect();
    ASSERT_TRUE(first.Send(Post(large, "/wait")));
    auto exchange = echo_.AwaitWaiting();
    EXPECT_EQ(StatusOf(Post(large, "/wait")), 429);
    EXPECT_EQ(StatusOf(Post("small")), 200);
    exchange->Answer({200, "", "done"});
    exchange.reset();
    AwaitStatus(200, Post(large));
  }
}

// Small ones that come packed could otherwise unpack to any number of bytes together.
TEST_F(ServerTest, BodiesThatAreUnpackedAreBoundedTogetherUntilTheirCallsAreOver) {
  limits_.bytes = 6000;  // half of it for bodies
  limits_.free_body_bytes = 100;
  Start();
  const net::Socket first = Connect();
  const net::Socket second = Connect();
  ASSERT_TRUE(first.Send(Post("1400", "/unpack")));
  auto exchange = echo_.AwaitWaiting();
  ASSERT_TRUE(second.Send(Post("1400", "/unpack")));
  const auto other = echo_.AwaitWaiting();
  EXPECT_EQ(StatusOf(Post("1400", "/unpack")), 429);
  EXPECT_EQ(StatusOf(Post(std::string(1500, 'x'))), 429) << "the room is that of all bodies";
  const net::Socket small = Connect();
  ASSERT_TRUE(small.Send(Post("100", "/unpack")));
  const auto free = echo_.AwaitWaiting();
  exchange->Answer({200, "", "done"});
  exchange.reset();
  AwaitStatus(200, Post(std::string(1500, 'x')));
}

TEST_F(ServerTest, WhoWaitsIsAnsweredFromAnyThread) {
  Start();
  const net::Socket socket = Connect();
  ASSERT_TRUE(socket.Send(Post("", "/wait")));
  echo_.AwaitWaiting()->Answer({200, "", "done"});
  EXPECT_THAT(ReadAnswer(socket, "done"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, ThatACallerLeavesIsTold) {
  Start();
  net::Socket socket = Connect();
  ASSERT_TRUE(socket.Send(Post("", "/wait")));
  const auto exchange = echo_.AwaitWaiting();
  socket.Close();
  echo_.AwaitLeft();
  exchange->Answer({200, "", "too late"});
}

TEST_F(ServerTest, AStreamIsSentInChunksAsItIsMade) {
  Start();
  const net::Socket socket = Connect();
  ASSERT_TRUE(socket.Send(Post("", "/wait")));
  const auto exchange = echo_.AwaitWaiting();
  exchange->Begin({200, "text/plain", ""});
  exchange->Send("first", [] {});
  EXPECT_THAT(socket.ReadUntil("first\r\n"), HasSubstr("chunked\r\n"));
  exchange->Send("second", [exchange] { exchange->End(); });
  EXPECT_EQ(socket.ReadUntil("\r\n0\r\n\r\n"), "6\r\nsecond\r\n0\r\n\r\n");
  ASSERT_TRUE(socket.Send(Post("next")));
  EXPECT_THAT(ReadAnswer(socket, "next"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ServerTest, TheLastStreamOfAConnectionArrivesWhole) {
  Start();
  const net::Socket socket = Connect();
  ASSERT_TRUE(socket.Send("GET /wait HTTP/1.1\r\nConnection: close\r\n\r\n"));
  auto exchange = echo_.AwaitWaiting();
  exchange->Begin({200, "text/plain", ""});
  const std::string part(4 << 20, 'x');  // more than is taken at once
  exchange->Send(part, [exchange] { exchange->End(); });
  exchange.reset();
  EXPECT_THAT(socket.ReadToEnd(), EndsWith(part + "\r\n0\r\n\r\n"));
}

// Who reads its answer has not left while that is on its way.
TEST_F(ServerTest, WhoEndsItsSendingSideIsStillSentItsAnswer) {
  Start();
  const net::Socket socket = Connect();
  const std::string body(4 << 20, 'x');
  ASSERT_TRUE(socket.Send(Post(body)));
  ASSERT_TRUE(socket.IsAnswered());
  ASSERT_EQ(shutdown(socket.fd(), SHUT_WR), 0);
  EXPECT_THAT(socket.ReadToEnd(), EndsWith("\r\n\r\n" + body));
}

// Its call could not be given up any more: what was done for it would be lost.
TEST_F(ServerTest, WhoEndsItsSendingSideTooLateToBeGivenUpIsSentItsAnswer) {
  Start();
  const net::Socket socket = Connect();
  ASSERT_TRUE(socket.Send(Post("", "/wait")));
  const auto exchange = echo_.AwaitWaiting();
  ASSERT_EQ(shutdown(socket.fd(), SHUT_WR), 0);
  echo_.AwaitLeft();
  exchange->Answer({200, "", "done"});
  EXPECT_THAT(socket.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("done")));
}

TEST_F(ServerTest, WhoEndsItsSendingSideAndIsGivenUpIsToldNothing) {
  Start();
  for (const bool is_stream : {false, true}) {
    const net::Socket socket = Connect();
    ASSERT_TRUE(socket.Send(Post("", "/wait")));
    const auto exchange = echo_.AwaitWaiting();
    ASSERT_EQ(shutdown(socket.fd(), SHUT_WR), 0);
    echo_.AwaitLeft();
    if (is_stream) {
      exchange->Begin({200, "text/plain", ""});
    } else {
      exchange->Answer({499, "", "cancelled"});
    }
    EXPECT_EQ(socket.ReadToEnd(), "");
  }
}

TEST_F(ServerTest, ADrainEndsConnectionsWithTheAnswersToTheirRequests) {
  Start();
  const net::Socket idle = Connect();
  ASSERT_TRUE(idle.Send(Post("in")));
  ReadAnswer(idle, "in");
  const net::Socket waiting = Connect();
  ASSERT_TRUE(waiting.Send(Post("", "/wait")));
  const auto exchange = echo_.AwaitWaiting();
  server_->BeginDrain();
  EXPECT_EQ(idle.ReadToEnd(), "");
  exchange->Answer({200, "", "done"});
  EXPECT_THAT(waiting.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("close\r\n")));
}

TEST_F(ServerTest, AStopCutsOffWhatIsLeft) {
  Start();
  const net::Socket waiting = Connect();
  ASSERT_TRUE(waiting.Send(Post("", "/wait")));
  auto exchange = echo_.AwaitWaiting();
  std::atomic<bool> holds = true;
  std::thread holder([&] {
    echo_.AwaitLeft();
    exchange->Answer({200, "", "too late"});
    holds = false;
    exchange.reset();
  });
  server_->Stop(absl::ZeroDuration());
  EXPECT_FALSE(holds) << "what is left refers to the server";
  EXPECT_EQ(waiting.ReadToEnd(), "");
  holder.join();
}

TEST_F(ServerTest, WhoeverStopsItWaitsUntilItHasEnded) {
  Start();
  const net::Socket waiting = Connect();
  ASSERT_TRUE(waiting.Send(Post("", "/wait")));
  auto exchange = echo_.AwaitWaiting();
  std::atomic<bool> holds = true;
  std::vector<std::thread> stoppers;
  for (int i = 0; i < 2; ++i) {
    stoppers.emplace_back([&] {
      server_->Stop(absl::ZeroDuration());
      EXPECT_FALSE(holds);
    });
  }
  echo_.AwaitLeft();
  holds = false;
  exchange.reset();
  for (std::thread& stopper : stoppers) stopper.join();
}

// A probe asks whether the broker is alive, and a worker acks, also while it drains.
TEST_F(ServerTest, ANewConnectionIsStillAnsweredInADrain) {
  Start();
  const net::Socket open = Connect();
  server_->BeginDrain();
  const net::Socket fresh = Connect();
  for (const net::Socket* const socket : {&open, &fresh}) {
    ASSERT_TRUE(socket->Send(Post("late")));
    EXPECT_THAT(socket->ReadToEnd(), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("close\r\n")));
  }
}

}  // namespace
}  // namespace skiplane::http
