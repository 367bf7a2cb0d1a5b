#include <zlib.h>

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics/metrics.h"
#include "tests/metrics/page.h"

namespace skiplane::metrics {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// What gzip packed.
std::string Unpacked(std::string packed) {
  std::string text(1 << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

class ServeTest : public ::testing::Test {
 protected:
  Metrics metrics_{"1.2.3", "abc"};
};

TEST_F(ServeTest, ThePageIsServedOnAFreePort) {
  EXPECT_EQ(metrics_.port(), 0);
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  ASSERT_GT(metrics_.port(), 0);
  EXPECT_THAT(HttpGet(metrics_.port(), "/metrics"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\nskiplane_draining 0"),
                    HasSubstr("\nprocess_open_fds ")));
}

TEST_F(ServeTest, AScrapeShowsWhatHappenedSinceTheLastOne) {
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  EXPECT_THAT(HttpGet(metrics_.port(), "/metrics"), HasSubstr("sessions_lost_total 0"));
  metrics_.SessionsLost(3);
  EXPECT_THAT(HttpGet(metrics_.port(), "/metrics"), HasSubstr("sessions_lost_total 3"));
}

TEST_F(ServeTest, ScrapesAreCountedAndTimedInSeconds) {
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  HttpGet(metrics_.port(), "/metrics");
  const std::string page = HttpGet(metrics_.port(), "/metrics");
  EXPECT_THAT(page, AllOf(HasSubstr("\nskiplane_scrapes_total 1\n"),
                          HasSubstr("\nskiplane_scrape_duration_seconds_count 1\n"),
                          Not(HasSubstr("exposer"))));
}

TEST_F(ServeTest, ThePageIsCompressedForWhoTakesThat) {
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  const std::string answer =
      HttpGet(metrics_.port(), "/metrics", "Accept-Encoding: deflate, gzip;q=1.0\r\n");
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Encoding: gzip\r\n"));
  const std::string page = Unpacked(answer.substr(answer.find("\r\n\r\n") + 4));
  EXPECT_THAT(page, HasSubstr("\nskiplane_draining 0"));
  EXPECT_LT(answer.size(), page.size() / 2);
}

TEST_F(ServeTest, HeadHasNoBody) {
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  EXPECT_THAT(HttpCall(metrics_.port(), "HEAD /metrics HTTP/1.0\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200"), EndsWith("\r\n\r\n")));
}

TEST_F(ServeTest, NothingElseIsServed) {
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  for (const char* path : {"/", "/metrics/../../etc/passwd", "/etc/passwd", "/favicon.ico"}) {
    EXPECT_THAT(HttpGet(metrics_.port(), path), HasSubstr(" 404 Not Found\r\n")) << path;
  }
}

TEST_F(ServeTest, APortThatIsTakenIsAStatusAndNoException) {
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  Metrics other("1.2.3", "abc");
  const std::string address = absl::StrCat("127.0.0.1:", metrics_.port());
  const absl::Status status = other.Serve(address);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  EXPECT_EQ(other.port(), 0);
}

TEST_F(ServeTest, AnAddressThatIsNoneIsAStatus) {
  for (const char* address : {"", "127.0.0.1:99999", "nonsense", "192.0.2.1:0"}) {
    EXPECT_FALSE(metrics_.Serve(address).ok()) << address;
  }
  EXPECT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
}

TEST_F(ServeTest, ServingTwiceIsRefused) {
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  const int port = metrics_.port();
  EXPECT_EQ(metrics_.Serve("127.0.0.1:0").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(metrics_.port(), port);
}

TEST_F(ServeTest, ThePortIsFreeAgainWhenTheMetricsAreGone) {
  int port = 0;
  {
    Metrics other("1.2.3", "abc");
    ASSERT_TRUE(other.Serve("127.0.0.1:0").ok());
    port = other.port();
    EXPECT_THAT(HttpGet(port, "/metrics"), Not(IsEmpty()));
  }
  EXPECT_THAT(HttpGet(port, "/metrics"), IsEmpty());
}

TEST_F(ServeTest, ScrapesDuringAStormOfCallsLoseNoCount) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5000;
  ASSERT_TRUE(metrics_.Serve("127.0.0.1:0").ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      const std::string own = absl::StrCat("own-", t);
      for (int i = 0; i < kEach; ++i) {
        metrics_.Enqueued("shared", "created", 1);
        metrics_.SetQueue(own, QueueGauges());
        metrics_.RpcEnded("skiplane.v1.BrokerService/Ack", "OK", absl::Milliseconds(1));
        if (i % 100 == 0) metrics_.RemoveQueue(own);
      }
    });
  }
  for (int i = 0; i < 5; ++i) HttpGet(metrics_.port(), "/metrics");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ParsePage(metrics_.Text())
                .Value("skiplane_tasks_enqueued_total{queue=\"shared\",result=\"created\"}"),
            kThreads * kEach);
}

}  // namespace
}  // namespace skiplane::metrics
