#include "server/rpc/call/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/rpc/status.pb.h"
#include "server/base/reason.h"
#include "tests/rpc/front.h"

namespace skiplane::rpc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ToGrpc, CarriesTheReasonAndTheDomain) {
  const grpc::Status status =
      ToGrpc(base::Refuse(absl::StatusCode::kNotFound, "QUEUE_NOT_FOUND", "no queue \"x\""));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "no queue \"x\"");
  const ErrorDetails details = Decode(status);
  EXPECT_EQ(details.info.reason(), "QUEUE_NOT_FOUND");
  EXPECT_EQ(details.info.domain(), "skiplane.dev");
  EXPECT_EQ(details.Field(), "");
  EXPECT_FALSE(details.retry.has_retry_delay());
}

TEST(TrailersOf, SayReasonAndFieldInPlainText) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  using ::testing::Pair;
  EXPECT_THAT(TrailersOf(absl::OkStatus()), IsEmpty());
  EXPECT_THAT(TrailersOf(base::Refuse(absl::StatusCode::kNotFound, "QUEUE_NOT_FOUND", "none")),
              ElementsAre(Pair("skiplane-reason", "QUEUE_NOT_FOUND")));
  EXPECT_THAT(TrailersOf(base::InvalidField("tasks[3].key", "too long")),
              ElementsAre(Pair("skiplane-reason", "INVALID_FIELD"),
                          Pair("skiplane-field", "tasks[3].key")));
  EXPECT_THAT(TrailersOf(absl::InternalError("a secret")),
              ElementsAre(Pair("skiplane-reason", "INTERNAL_ERROR")));
}

TEST(TrailersOf, AFieldThatMetadataCannotHoldIsLeftOutOrCut) {
  const auto trailers = [](absl::string_view field) {
    return TrailersOf(base::InvalidField(field, "bad"));
  };
  EXPECT_EQ(trailers("headers[\"\n\"]").size(), 1);
  EXPECT_EQ(trailers("headers[\"\xD0\xB9\"]").size(), 1);
  EXPECT_EQ(trailers(std::string(5000, 'x'))[1].second.size(), 512);
}

TEST(ToGrpc, RepeatsCodeAndMessageInTheDetails) {
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(
      ToGrpc(base::InvalidField("tasks[3].priority", "too large")).error_details()));
  EXPECT_EQ(details.code(), 3);
  EXPECT_EQ(details.message(), "tasks[3].priority: too large");
}

TEST(ToGrpc, SaysWhenARepeatHasAChance) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kUnavailable, absl::StatusCode::kResourceExhausted}) {
    EXPECT_TRUE(Decode(ToGrpc(base::Refuse(code, "ANY", ""))).retry.has_retry_delay());
  }
  const ErrorDetails aborted =
      Decode(ToGrpc(base::Refuse(absl::StatusCode::kAborted, "ETAG_MISMATCH", "")));
  EXPECT_FALSE(aborted.retry.has_retry_delay());
}

TEST(ToGrpc, HidesWhatHasNoReason) {
  const grpc::Status status = ToGrpc(absl::NotFoundError("select secret from task"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), Not(HasSubstr("secret")));
  EXPECT_EQ(Decode(status).info.reason(), "INTERNAL_ERROR");
  const grpc::Status again = ToGrpc(absl::NotFoundError("select secret from task"));
  EXPECT_NE(status.error_message(), again.error_message()) << "each defect has its own id";
}

TEST(ToGrpc, HidesTheTextOfADefectThatNamesItself) {
  const grpc::Status status =
      ToGrpc(base::Refuse(absl::StatusCode::kInternal, "INTERNAL_ERROR", "select secret"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), Not(HasSubstr("secret")));
}

TEST(ToGrpc, StaysWithinTheSizeThatATrailerCanHold) {
  const std::string endless(100000, 'x');
  for (const absl::Status& refusal :
       {base::InvalidField(endless, endless),
        base::Refuse(absl::StatusCode::kUnavailable, endless, endless)}) {
    const grpc::Status status = ToGrpc(refusal);
    EXPECT_LE(status.error_message().size(), kStatusMessageBytesMax);
    EXPECT_LE(status.error_details().size(), kStatusDetailsBytesMax);
    EXPECT_EQ(status.error_code(), static_cast<grpc::StatusCode>(refusal.code()));
  }
}

// Each byte of such a message takes three in the trailer.
TEST(ToGrpc, TheLargestRefusalReachesItsCaller) {
  std::string umlauts;
  while (umlauts.size() < 5000) umlauts += "\xc3\xbc";
  FakeBroker::Behaviour behaviour;
  behaviour.refusal = base::InvalidField(umlauts, umlauts);
  Front front(behaviour);
  v1::GetQueueRequest request;
  request.set_name("mail");
  v1::GetQueueResponse response;
  const grpc::Status status = front.Call(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_EQ(Decode(status).info.reason(), "INVALID_FIELD");
  EXPECT_THAT(Decode(status).Field(), HasSubstr("\xc3\xbc"));
}

TEST(InvalidLeaseToken, BlamesTheItemAndKeepsItsReason) {
  const grpc::Status status = ToGrpc(InvalidLeaseToken({"lease_token", "items", 12}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("items[12]"));
  EXPECT_EQ(Decode(status).info.reason(), "INVALID_LEASE_TOKEN");
  EXPECT_EQ(Decode(status).Field(), "items[12].lease_token");
}

}  // namespace
}  // namespace skiplane::rpc
