#include "server/http/connect/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/base/reason.h"
#include "server/rpc/call/status.h"

namespace skiplane::http::connect {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// As Connect's specification lists them.
TEST(Failure, EachCodeHasItsNameAndItsStatus) {
  const struct {
    grpc::StatusCode code;
    const char* name;
    int status;
  } rows[] = {{grpc::StatusCode::CANCELLED, "canceled", 499},
              {grpc::StatusCode::UNKNOWN, "unknown", 500},
              {grpc::StatusCode::INVALID_ARGUMENT, "invalid_argument", 400},
              {grpc::StatusCode::DEADLINE_EXCEEDED, "deadline_exceeded", 504},
              {grpc::StatusCode::NOT_FOUND, "not_found", 404},
              {grpc::StatusCode::ALREADY_EXISTS, "already_exists", 409},
              {grpc::StatusCode::PERMISSION_DENIED, "permission_denied", 403},
              {grpc::StatusCode::RESOURCE_EXHAUSTED, "resource_exhausted", 429},
              {grpc::StatusCode::FAILED_PRECONDITION, "failed_precondition", 400},
              {grpc::StatusCode::ABORTED, "aborted", 409},
              {grpc::StatusCode::OUT_OF_RANGE, "out_of_range", 400},
              {grpc::StatusCode::UNIMPLEMENTED, "unimplemented", 501},
              {grpc::StatusCode::INTERNAL, "internal", 500},
              {grpc::StatusCode::UNAVAILABLE, "unavailable", 503},
              {grpc::StatusCode::DATA_LOSS, "data_loss", 500},
              {grpc::StatusCode::UNAUTHENTICATED, "unauthenticated", 401}};
  for (const auto& row : rows) {
    EXPECT_EQ(CodeName(row.code), row.name);
    EXPECT_EQ(HttpStatusOf(row.code), row.status) << row.name;
  }
}

TEST(Failure, ItsTextIsCodeMessageAndDetails) {
  google::rpc::ErrorInfo info;
  info.set_reason("R");
  google::rpc::Status details;
  details.add_details()->PackFrom(info);
  details.add_details()->set_type_url("type.googleapis.com/no.such.Type");
  const Response response = ErrorResponse(
      {grpc::StatusCode::NOT_FOUND, "no \"q\"", details.SerializeAsString()});
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body,
            R"({"code":"not_found","message":"no \"q\"","details":[)"
            R"({"type":"google.rpc.ErrorInfo","value":"CgFS","debug":{"reason":"R"}},)"
            R"({"type":"no.such.Type","value":""}]})");
}

TEST(Failure, WhatMayBeRepeatedSoonSaysAfterHowManyWholeSeconds) {
  const auto fields = [](absl::Duration delay) {
    const absl::Status refusal = base::WithRetryDelay(
        base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS", "no"), delay);
    return ErrorResponse(rpc::ToGrpc(refusal)).fields;
  };
  EXPECT_THAT(fields(absl::Milliseconds(250)), ElementsAre(Pair("Retry-After", "1")));
  EXPECT_THAT(fields(absl::Milliseconds(2001)), ElementsAre(Pair("Retry-After", "3")));
  EXPECT_THAT(fields(absl::Seconds(4)), ElementsAre(Pair("Retry-After", "4")));
}

TEST(Failure, AMessageThatIsNoUtf8DoesNotBreakIt) {
  EXPECT_EQ(ErrorResponse({grpc::StatusCode::ABORTED, "\xff"}, 418).body,
            "{\"code\":\"aborted\",\"message\":\"\xEF\xBF\xBD\"}");
}

TEST(Failure, WhatThePortRefusesHasTheSameTrailersAsWhatServicesRefuse) {
  const absl::Status refusal =
      base::RefuseField(absl::StatusCode::kInvalidArgument, "INVALID_FIELD", "tasks[0].key", "no");
  EXPECT_THAT(RefusalResponse(refusal, 413).fields,
              ElementsAre(Pair("trailer-skiplane-reason", "INVALID_FIELD"),
                          Pair("trailer-skiplane-field", "tasks[0].key")));
  EXPECT_THAT(RefusalEnd(refusal)["metadata"].dump(),
              R"({"skiplane-reason":["INVALID_FIELD"],"skiplane-field":["tasks[0].key"]})");
}

}  // namespace
}  // namespace skiplane::http::connect
