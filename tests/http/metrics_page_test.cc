#include "server/http/metrics_page.h"

#include <zlib.h>

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/http/pages.h"
#include "tests/metrics/page.h"
#include "tests/net/socket.h"
#include "tests/support/require.h"

namespace skiplane::http {
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

class MetricsPageTest : public ::testing::Test {
 protected:
  void Start() { page_ = testing::Required(MetricsPage::Start("127.0.0.1:0", metrics_)); }
  std::string Get(const std::string& path, const std::string& headers = "") const {
    return metrics::HttpGet(page_->port(), path, headers);
  }

  metrics::Metrics metrics_{"1.2.3", "abc"};
  std::unique_ptr<MetricsPage> page_;
};

TEST_F(MetricsPageTest, ThePageIsServedOnAFreePort) {
  Start();
  ASSERT_GT(page_->port(), 0);
  EXPECT_THAT(Get("/metrics"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\nskiplane_draining 0"),
                    HasSubstr("\nprocess_open_fds ")));
}

TEST_F(MetricsPageTest, AScrapeShowsWhatHappenedSinceTheLastOne) {
  Start();
  EXPECT_THAT(Get("/metrics"), HasSubstr("sessions_lost_total 0"));
  metrics_.SessionsLost(3);
  EXPECT_THAT(Get("/metrics"), HasSubstr("sessions_lost_total 3"));
}

TEST_F(MetricsPageTest, ScrapesAreCountedAndTimedInSeconds) {
  Start();
  Get("/metrics");
  const std::string page = Get("/metrics");
  EXPECT_THAT(page, AllOf(HasSubstr("\nskiplane_scrapes_total 1\n"),
                          HasSubstr("\nskiplane_scrape_duration_seconds_count 1\n"),
                          Not(HasSubstr("exposer"))));
}

TEST_F(MetricsPageTest, ThePageIsCompressedForWhoTakesThat) {
  Start();
  const std::string answer =
      Get("/metrics", "Accept-Encoding: deflate, gzip;q=1.0\r\n");
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Encoding: gzip\r\n"));
  const std::string page = Unpacked(answer.substr(answer.find("\r\n\r\n") + 4));
  EXPECT_THAT(page, HasSubstr("\nskiplane_draining 0"));
  EXPECT_LT(answer.size(), page.size() / 2);
}

TEST_F(MetricsPageTest, ThePageIsNotCompressedForWhoRefusesThat) {
  Start();
  for (const char* wish : {"", "gzip;q=0", "gzip; q=0.000, deflate", "x-gzip"}) {
    EXPECT_THAT(Get("/metrics", absl::StrCat("Accept-Encoding: ", wish, "\r\n")),
                AllOf(HasSubstr("\nskiplane_draining 0"), Not(HasSubstr("Content-Encoding")),
                      HasSubstr("\r\nVary: Accept-Encoding\r\n")))
        << wish;
  }
  EXPECT_THAT(Get("/metrics", "Accept-Encoding: br\r\nAccept-Encoding: GZIP;q=0.5\r\n"),
              HasSubstr("\r\nContent-Encoding: gzip\r\n"));
}

TEST_F(MetricsPageTest, ForHeadNoPageIsMade) {
  Start();
  EXPECT_THAT(metrics::HttpCall(page_->port(), "HEAD /metrics HTTP/1.0\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\r\nContent-Type: text/plain; version="),
                    Not(HasSubstr("Content-Length")), EndsWith("\r\n\r\n")));
  const Head head{"HEAD", kMetricsPath, {{"accept-encoding", "gzip"}}};
  EXPECT_EQ(Scrape(head, metrics_).body, "");
}

TEST_F(MetricsPageTest, NothingElseIsServed) {
  Start();
  for (const char* path : {"/", "/metrics/../../etc/passwd", "/etc/passwd", "/favicon.ico"}) {
    EXPECT_THAT(Get(path), HasSubstr(" 404 Not Found\r\n")) << path;
  }
}

TEST_F(MetricsPageTest, APortThatIsTakenIsAStatusAndNoException) {
  Start();
  const std::string address = absl::StrCat("127.0.0.1:", page_->port());
  const absl::Status status = MetricsPage::Start(address, metrics_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(address));
}

TEST_F(MetricsPageTest, AnAddressThatIsNoneIsAStatus) {
  for (const char* address : {"", "127.0.0.1:99999", "nonsense", "192.0.2.1:0"}) {
    EXPECT_FALSE(MetricsPage::Start(address, metrics_).ok()) << address;
  }
  Start();
}

TEST_F(MetricsPageTest, ThePortIsFreeAgainWhenThePageIsGone) {
  Start();
  const int port = page_->port();
  EXPECT_THAT(Get("/metrics"), Not(IsEmpty()));
  page_.reset();
  EXPECT_THAT(metrics::HttpGet(port, "/metrics"), IsEmpty());
}

// With a thread per connection, a few such peers held the page for as long as they liked.
TEST_F(MetricsPageTest, PeersThatNeitherAskNorReadHoldNobodyUp) {
  for (int i = 0; i < 20000; ++i) metrics_.Enqueued(absl::StrCat("queue-", i % 1000), "created", 1);
  Start();
  std::vector<net::Socket> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(net::Socket::ConnectedTo(page_->port()));
    ASSERT_TRUE(slow.back().Send(i % 2 == 0 ? "GET /metr" : "GET /metrics HTTP/1.1\r\n\r\n"));
  }
  EXPECT_THAT(Get("/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST_F(MetricsPageTest, ScrapesDuringAStormOfCallsLoseNoCount) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5000;
  Start();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      const std::string own = absl::StrCat("own-", t);
      for (int i = 0; i < kEach; ++i) {
        metrics_.Enqueued("shared", "created", 1);
        metrics_.SetQueue(own, metrics::QueueGauges());
        metrics_.RpcEnded("skiplane.v1.BrokerService/Ack", "OK", absl::Milliseconds(1));
        if (i % 100 == 0) metrics_.RemoveQueue(own);
      }
    });
  }
  for (int i = 0; i < 5; ++i) Get("/metrics");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(metrics::ParsePage(metrics_.Text())
                .Value("skiplane_tasks_enqueued_total{outcome=\"created\",queue=\"shared\"}"),
            kThreads * kEach);
}

}  // namespace
}  // namespace skiplane::http
