// A handler that does what the path says.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/base/mutex.h"
#include "server/http/handler.h"
#include "tests/support/require.h"

namespace skiplane::http {

// Answers with the body, but for
//   /wait: the exchange is kept, until it is taken,
//   /unpack: the same, with a body that unpacks to as many bytes as it says; 429 without room,
//   /hold and /metrics: the thread is kept, until Release(),
//   /no: it is refused.
class Echo : public Handler {
 public:
  std::optional<Response> Refuse(const Head& head, const Caller& /*caller*/) override {
    if (head.path == "/no") return Response{404, "", "no\n"};
    return std::nullopt;
  }

  void Handle(Request request, std::shared_ptr<Exchange> exchange) override {
    if (request.head.path == "/wait") return Keep(std::move(exchange));
    if (request.head.path == "/unpack") return Unpack(request.body, std::move(exchange));
    if (request.head.path == "/hold" || request.head.path == "/metrics") Hold(request.head.path);
    exchange->Answer({200, "text/plain", std::move(request.body)});
  }

  // With a field that repeats the path, if the head was read.
  Response Failure(int status, absl::string_view message, const Head& head) override {
    return {status, "text/plain", std::string(message), {{"X-Path", head.path}}};
  }

  // The first that was not taken yet.
  std::shared_ptr<Exchange> AwaitWaiting() {
    base::MutexLock lock(mutex_);
    while (waiting_.empty()) AwaitChange();
    std::shared_ptr<Exchange> first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }
  void AwaitLeft() {
    base::MutexLock lock(mutex_);
    while (!has_left_) AwaitChange();
    has_left_ = false;
  }

  bool HasWaiting() {
    base::MutexLock lock(mutex_);
    return !waiting_.empty();
  }

  // Until `path` keeps as many threads.
  void AwaitHeld(const std::string& path, int count) {
    base::MutexLock lock(mutex_);
    while (held_[path] < count) AwaitChange();
  }
  int held(const std::string& path) {
    base::MutexLock lock(mutex_);
    return held_[path];
  }
  void Release() {
    base::MutexLock lock(mutex_);
    is_released_ = true;
    changed_.NotifyAll();
  }

 private:
  void Unpack(const std::string& bytes, std::shared_ptr<Exchange> exchange) {
    if (exchange->HoldUnpacked(std::stoul(bytes))) return Keep(std::move(exchange));
    exchange->Answer({429, "", ""});
  }

  void Keep(std::shared_ptr<Exchange> exchange) {
    exchange->OnLeft([this] {
      base::MutexLock lock(mutex_);
      has_left_ = true;
      changed_.NotifyAll();
    });
    base::MutexLock lock(mutex_);
    waiting_.push_back(std::move(exchange));
    changed_.NotifyAll();
  }

  void Hold(const std::string& path) {
    base::MutexLock lock(mutex_);
    ++held_[path];
    changed_.NotifyAll();
    while (!is_released_) AwaitChange();
    --held_[path];
  }

  void AwaitChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    testing::Require(changed_.WaitUntil(mutex_, end), "it does not come");
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::shared_ptr<Exchange>> waiting_;
  std::map<std::string, int> held_;
  bool has_left_ = false;
  bool is_released_ = false;
};

}  // namespace skiplane::http
