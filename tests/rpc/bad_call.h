// Tables of calls with one field out of its range: each must be refused on that field, must not
// reach the broker, and must leave the server fit for the next good call.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rpc/front.h"

namespace skiplane::rpc {

template <typename Request>
struct BadCall {
  std::string name;
  std::function<void(Request&)> spoil;  // of a good request
  std::string field;
  std::string reason = "INVALID_FIELD";
};

template <typename Request>
void PrintTo(const BadCall<Request>& call, std::ostream* out) {
  *out << call.name;
}

template <typename Request, typename Response>
void ExpectRefused(const Request& good, const BadCall<Request>& bad) {
  Front front;
  Request request = good;
  bad.spoil(request);
  Response response;
  const grpc::Status refused = front.Call(request, &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << refused.error_message();
  const ErrorDetails details = Decode(refused);
  EXPECT_EQ(details.info.reason(), bad.reason);
  EXPECT_EQ(details.info.domain(), "skiplane.dev");
  EXPECT_EQ(details.Field(), bad.field);
  EXPECT_EQ(front.broker.calls(), 0);
  const grpc::Status accepted = front.Call(good, &response);
  EXPECT_TRUE(accepted.ok()) << accepted.error_message();
  EXPECT_EQ(front.broker.calls(), 1);
}

template <typename Request>
std::string NameOf(const ::testing::TestParamInfo<BadCall<Request>>& info) {
  return info.param.name;
}

// Text with a NUL byte, which PostgreSQL cannot hold.
inline std::string WithNul() { return std::string("a\0b", 3); }

}  // namespace skiplane::rpc
