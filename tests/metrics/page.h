// The page of metrics as tests read it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "server/metrics/metrics.h"

namespace skiplane::metrics {

struct PageFamily {
  std::string type;
  std::set<std::string> labels;  // without those that the type brings along: le, quantile

  friend bool operator==(const PageFamily&, const PageFamily&) = default;
};

struct Page {
  std::map<std::string, PageFamily> families;
  // By name and labels as on the page: skiplane_queue_tasks{queue="a",state="ready"}.
  std::map<std::string, double> series;

  // None if there is no such series.
  std::optional<double> Value(const std::string& series_name) const;

  // How many series have this text in their name or labels.
  int CountOf(absl::string_view text) const;
};

Page ParsePage(absl::string_view text);

// Calls every verb once, so that every metric is on the page.
void UseEveryVerb(Metrics& metrics);

// The answer of 127.0.0.1:port to "GET path", header included; empty if there is none. Each line of
// `headers` ends with CR and LF.
std::string HttpGet(int port, const std::string& path, const std::string& headers = "");

// The same to any request.
std::string HttpCall(int port, const std::string& request);

}  // namespace skiplane::metrics
