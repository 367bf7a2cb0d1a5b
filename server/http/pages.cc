#include "server/http/pages.h"

namespace skiplane::http {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";

}  // namespace

bool Pages::Has(absl::string_view path) const {
  return path == "/healthz" || path == "/readyz" || path == kMetricsPath;
}

Response Pages::Answer(const Head& head) const {
  if (head.path == kMetricsPath) return metrics(head);
  if (head.path == "/healthz") return {200, kText, "alive\n"};
  return is_ready() ? Response{200, kText, "ready\n"} : Response{503, kText, "not ready\n"};
}

}  // namespace skiplane::http
