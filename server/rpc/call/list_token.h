// Tokens of the next pages of operators' lists: where the list goes on, and a checksum over it and
// over the rest of the request, so that a token of another list or of another request is refused.
// They grant nothing, so they need no secret. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "server/rpc/call/call_wire.h"

namespace skiplane::rpc {

inline constexpr int kPageMost = 1000;
inline constexpr int kPageDefault = 100;

// 0 means the default, and more than the most is taken as the most. INVALID_FIELD if negative.
absl::StatusOr<int> ReadPageSize(int wire);

// `parts` may hold any bytes.
std::string WriteListToken(const std::vector<std::string>& parts, absl::string_view scope);

// INVALID_FIELD on page_token unless WriteListToken made it of `count` parts and the same scope.
absl::StatusOr<std::vector<std::string>> ReadListToken(absl::string_view token,
                                                       absl::string_view scope, size_t count);

absl::Status BadListToken();

// The message's type and content, with the entries of its maps in order.
std::string SortedBytes(const google::protobuf::Message& message);

// What a token is good for: the request without its token and page size.
template <typename Request>
std::string TokenScope(Request request) {
  request.clear_page_token();
  if constexpr (requires { request.clear_page_size(); }) request.clear_page_size();
  return SortedBytes(request);
}

// The same of a request's bytes, for the token of the next page.
template <typename Request>
std::string ScopeOf(const grpc::ByteBuffer& bytes) {
  Request request;
  return ParseMessage(bytes, &request).ok() ? TokenScope(std::move(request)) : std::string();
}

// The parts as numbers. INVALID_FIELD on page_token if they are none.
template <typename... Numbers>
absl::Status ReadNumbers(const std::vector<std::string>& parts, Numbers*... numbers) {
  size_t next = 0;
  bool good = parts.size() == sizeof...(numbers);
  const auto read = [&](auto* number) {
    int64_t value = 0;
    good = good && absl::SimpleAtoi(parts[next++], &value) && value >= 0;
    *number = static_cast<std::remove_pointer_t<decltype(number)>>(value);
    good = good && static_cast<int64_t>(*number) == value;
  };
  if (good) (read(numbers), ...);
  return good ? absl::OkStatus() : BadListToken();
}

}  // namespace skiplane::rpc
