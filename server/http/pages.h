// What is read by GET: is the broker alive, is it ready, its metrics. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "server/http/message.h"

namespace skiplane::http {

inline constexpr char kMetricsPath[] = "/metrics";

struct Pages {
  std::function<bool()> is_ready;
  std::function<Response(const Head&)> metrics;

  bool Has(absl::string_view path) const;

  // A page that is there, to GET or HEAD.
  Response Answer(const Head& head) const;
};

}  // namespace skiplane::http
