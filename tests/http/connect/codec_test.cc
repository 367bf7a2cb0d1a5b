#include "server/http/connect/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/reason.h"
#include "skiplane/v1/broker.pb.h"
#include "tests/support/require.h"

namespace skiplane::http::connect {
namespace {

using ::testing::HasSubstr;

const google::protobuf::Descriptor& Type() { return *v1::EnqueueRequest::descriptor(); }

TEST(Codec, ProtobufIsPassedOnAsItIs) {
  EXPECT_EQ(testing::Required(ToBytes("\xff", Form::kProto, Type())), "\xff");
  EXPECT_EQ(testing::Required(FromBytes("\xff", Form::kProto, Type())), "\xff");
}

TEST(Codec, JsonBecomesTheMessageAndTheReverse) {
  const std::string bytes =
      testing::Required(ToBytes(R"({"queue":"a","request_id":"r"})", Form::kJson, Type()));
  v1::EnqueueRequest request;
  ASSERT_TRUE(request.ParseFromString(bytes));
  EXPECT_EQ(request.queue(), "a");
  EXPECT_EQ(request.request_id(), "r");
  EXPECT_EQ(testing::Required(FromBytes(bytes, Form::kJson, Type())),
            R"({"queue":"a","requestId":"r"})");
}

TEST(Codec, WhatIsNoMessageIsBlamedOnTheBody) {
  for (const char* body : {"", "[]", R"({"queue":1e400})", R"({"no":1})", "{\"\xff\":1}"}) {
    const absl::Status status = ToBytes(body, Form::kJson, Type()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << body;
    EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD") << body;
    EXPECT_THAT(std::string(status.message()), HasSubstr("skiplane.v1.EnqueueRequest"));
    for (const char c : status.message()) EXPECT_GT(c, 0) << body;  // ASCII
  }
}

}  // namespace
}  // namespace skiplane::http::connect
