// Answers GET and HEAD with a page, compressed for those who take that, and measures how often and
// for how long. Thread-safe.
#pragma once

#include <CivetServer.h>

#include <functional>
#include <string>

#include "server/metrics/families.h"

namespace skiplane::metrics {

class PageHandler : public CivetHandler {
 public:
  // `page` makes it, at each call; it is called by several threads at once.
  PageHandler(std::function<std::string()> page, Registry& registry);

  bool handleGet(CivetServer* server, mg_connection* connection) override;
  bool handleHead(CivetServer* server, mg_connection* connection) override;

 private:
  const std::function<std::string()> page_;
  Counter& scrapes_;
  Counter& bytes_;
  Histogram& seconds_;
};

}  // namespace skiplane::metrics
