#include "server/http/metrics_page.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "server/base/status_macros.h"
#include "server/http/gzip.h"
#include "server/http/pages.h"

namespace skiplane::http {
namespace {

constexpr char kType[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kText[] = "text/plain; charset=utf-8";

Limits LimitsOfPage(int connections_max) {
  Limits limits;
  limits.port = "metrics";
  limits.threads = limits.workers = 1;
  limits.connections = connections_max;
  limits.body_bytes = 0;
  limits.idle = absl::Seconds(30);
  return limits;
}

}  // namespace

Response Scrape(const Head& head, metrics::Metrics& metrics) {
  Response response{200, kType, "", {{"Vary", "Accept-Encoding"}}};
  if (head.method == "HEAD") return response;
  const absl::Time begin = absl::Now();
  response.body = metrics.Text();
  Pack(head, &response);
  metrics.Scraped(static_cast<int64_t>(response.body.size()), absl::Now() - begin);
  return response;
}

class MetricsPage::Page final : public Handler {
 public:
  explicit Page(metrics::Metrics& metrics) : metrics_(metrics) {}

  std::optional<Response> Refuse(const Head& head, const Caller& /*caller*/) override {
    if (head.path != kMetricsPath) return Response{404, kText, "there is only /metrics\n"};
    if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
    return Response{405, kText, "this page can only be read\n", {{"Allow", "GET, HEAD"}}};
  }

  void Handle(Request request, std::shared_ptr<Exchange> exchange) override {
    exchange->Answer(Scrape(request.head, metrics_));
  }

  Response Failure(int status, absl::string_view message, const Head& /*head*/) override {
    return {status, kText, absl::StrCat(message, "\n")};
  }

 private:
  metrics::Metrics& metrics_;
};

MetricsPage::MetricsPage(std::unique_ptr<Page> page) : page_(std::move(page)) {}

MetricsPage::~MetricsPage() = default;

absl::StatusOr<std::unique_ptr<MetricsPage>> MetricsPage::Start(absl::string_view address,
                                                                metrics::Metrics& metrics,
                                                                int connections_max) {
  absl::StatusOr<net::ListenSockets> sockets = net::ListenSockets::Bind(std::string(address));
  if (!sockets.ok()) {
    absl::string_view why = sockets.status().message();
    absl::ConsumePrefix(&why, absl::StrCat("cannot listen on ", address, ": "));
    return absl::UnavailableError(absl::StrCat("cannot serve metrics on ", address, ": ", why));
  }
  std::unique_ptr<MetricsPage> page(new MetricsPage(std::make_unique<Page>(metrics)));
  ASSIGN_OR_RETURN(page->server_,
                   Server::Start(*std::move(sockets), std::nullopt, LimitsOfPage(connections_max),
                                 *page->page_, metrics));
  return page;
}

}  // namespace skiplane::http
