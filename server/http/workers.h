// Threads for what takes longer than a moment, so that those that read and write connections are
// not held up: bodies that are large or compressed, and the page with metrics. Thread-safe.
#pragma once

#include <functional>

#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include "server/http/message.h"

namespace skiplane::http {

class Workers {
 public:
  // A body above `quick_body_bytes` is large.
  Workers(int threads, size_t quick_body_bytes);

  bool IsNeededFor(const Request& request) const;
  // One page with metrics is made at a time; who wants the next waits without a thread.
  void Run(const Request& request, std::function<void()> work);

  // What was given is done first.
  void Stop() { pool_.join(); }

 private:
  const size_t quick_body_bytes_;
  boost::asio::thread_pool pool_;
  boost::asio::strand<boost::asio::thread_pool::executor_type> pages_;
};

}  // namespace skiplane::http
