// The bearer token of a connection: a fixed one, or what its file says now. Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "skiplane/options.h"

namespace skiplane::internal {

class Token {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // INVALID_ARGUMENT for a token that cannot be sent; NOT_FOUND or FAILED_PRECONDITION for a file
  // that cannot be read or has none.
  static absl::StatusOr<std::unique_ptr<Token>> Open(const ClientOptions& options);

  // For the next attempt; empty: none. Looks at the file once a second at most. While that has no
  // token, the one before stays.
  std::string Get(Time now = std::chrono::steady_clock::now());

  // Looks at the file: whether it says another token than `refused`.
  bool IsOther(const std::string& refused);

 private:
  Token(std::string token, std::string file) : file_(std::move(file)), token_(std::move(token)) {}

  // With mutex_ held.
  void Look();

  const std::string file_;  // empty: the token is fixed
  std::mutex mutex_;
  std::string token_;
  Time looked_ = std::chrono::steady_clock::now();
};

}  // namespace skiplane::internal
