#include "server/http/connect/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "skiplane/v1/broker.pb.h"
#include "tests/support/require.h"

namespace skiplane::http::connect {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(Codec, AValueThatIsRefusedIsNotTold) {
  struct Case {
    std::string item;  // of tasks
    std::string field;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {R"({"payload":"secret~"})", "tasks[0].payload", "base64"},
           {R"({"payload":"secret~ for type x"})", "tasks[0].payload", "base64"},
           {R"({"payload":"): invalid value secret~"})", "tasks[0].payload", "base64"},
           {R"({"priority":"secret"})", "tasks[0].priority", "int32"},
           {R"({"priority":1e99})", "tasks[0].priority", "int32"},
           {R"({"delay":"secret"})", "tasks[0].delay", "1.5s"},
           {R"({"keyPolicy":"secret"})", "tasks[0].key_policy", "KEY_POLICY_KEEP, KEY_POLICY_"},
           {R"({"scheduleTime":"secret"})", "tasks[0].schedule_time", "2026-"},
           {R"({"headers":{"secret":7}})", "tasks[0].headers[0].value", "string"},
           {R"({"headers":{"secret":"a","secret":"b"}})", "tasks[0].headers[0]", "twice"},
           {R"({"delay":"1s","scheduleTime":"2026-11-22T10:00:00Z"})", "tasks[0]", "start"}}) {
    const absl::Status status =
        ToBytes(absl::StrCat(R"({"tasks":[)", c.item, "]}"), Form::kJson, Type()).status();
    EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD") << c.item;
    EXPECT_EQ(base::FieldOf(status), c.field) << c.item;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.says)) << c.item;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret"))) << c.item;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("1e+99"))) << c.item;
  }
}

}  // namespace
}  // namespace skiplane::http::connect
