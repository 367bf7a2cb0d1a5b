// An exchange that notes what it is told, for one test to wait for. Thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "server/base/mutex.h"
#include "server/http/handler.h"
#include "tests/support/require.h"

namespace skiplane::http::connect {

class RecordedExchange final : public Exchange {
 public:
  // `room`: for a body that is unpacked.
  explicit RecordedExchange(size_t room = 8 << 20) : room_(room) {}

  bool HoldUnpacked(size_t bytes) override {
    base::MutexLock lock(mutex_);
    unpacked_ = bytes;
    return bytes <= room_;
  }
  void Reserve(size_t bytes) override { Note("reserve", bytes > 0); }
  void Answer(Response response) override {
    base::MutexLock lock(mutex_);
    answer_ = std::move(response);
    NoteLocked("answer");
  }
  void Begin(Response /*head*/) override { Note("begin", true); }
  // The caller takes nothing: `sent` is never called.
  void Send(std::string /*bytes*/, std::function<void()> /*sent*/) override { Note("send", true); }
  void End() override { Note("end", true); }
  void OnLeft(std::function<void()> left) override {
    base::MutexLock lock(mutex_);
    left_ = std::move(left);
  }

  void Leave() {
    std::function<void()> left;
    {
      base::MutexLock lock(mutex_);
      left = std::exchange(left_, nullptr);
    }
    testing::Require(left != nullptr, "nobody wants to know");
    left();
  }

  std::vector<std::string> Await(const std::string& what) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    base::MutexLock lock(mutex_);
    while (told_.empty() || told_.back() != what) {
      testing::Require(changed_.WaitUntil(mutex_, end), "it is not told: " + what);
    }
    return told_;
  }
  size_t unpacked() {
    base::MutexLock lock(mutex_);
    return unpacked_;
  }
  Response answer() {
    base::MutexLock lock(mutex_);
    return answer_;
  }

 private:
  void Note(const char* what, bool is_wanted) {
    base::MutexLock lock(mutex_);
    if (is_wanted) NoteLocked(what);
  }
  void NoteLocked(const char* what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    told_.emplace_back(what);
    changed_.NotifyAll();
  }

  const size_t room_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<std::string> told_;
  std::function<void()> left_;
  Response answer_;
  size_t unpacked_ = 0;
};

}  // namespace skiplane::http::connect
