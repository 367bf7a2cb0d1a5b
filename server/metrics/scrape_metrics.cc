#include "server/metrics/scrape_metrics.h"

namespace skiplane::metrics {

ScrapeMetrics::ScrapeMetrics(Registry& registry)
    : scrapes_(NewCounter(registry, "skiplane_scrapes_total", "Scrapes answered.").Add({})),
      bytes_(NewCounter(registry, "skiplane_scraped_bytes_total",
                        "Bytes of this page sent, as compressed.")
                 .Add({})),
      seconds_(NewHistogram(registry, "skiplane_scrape_duration_seconds",
                            "Time to make this page and to compress it.")
                   .Add({}, prometheus::Histogram::BucketBoundaries{0.001, 0.005, 0.025, 0.1,
                                                                    0.5, 2.5})) {}

void ScrapeMetrics::Scraped(int64_t bytes, absl::Duration duration) {
  scrapes_.Increment();
  bytes_.Increment(static_cast<double>(bytes));
  seconds_.Observe(absl::ToDoubleSeconds(duration));
}

}  // namespace skiplane::metrics
