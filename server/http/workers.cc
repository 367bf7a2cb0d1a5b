#include "server/http/workers.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "server/http/pages.h"

namespace skiplane::http {

Workers::Workers(int threads, size_t quick_body_bytes)
    : quick_body_bytes_(quick_body_bytes),
      pool_(static_cast<size_t>(threads)),
      pages_(pool_.get_executor()) {}

bool Workers::IsNeededFor(const Request& request) const {
  // A compressed body may stand for a large one.
  return request.body.size() > quick_body_bytes_ || request.head.path == kMetricsPath ||
         !request.head.Find("content-encoding").empty();
}

void Workers::Run(const Request& request, std::function<void()> work) {
  if (request.head.path == kMetricsPath) {
    boost::asio::post(pages_, std::move(work));
  } else {
    boost::asio::post(pool_, std::move(work));
  }
}

}  // namespace skiplane::http
