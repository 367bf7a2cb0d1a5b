// What a change tells the broker of its caller and of its repeats.
#include <gmock/gmock.h>

#include "tests/rpc/front.h"
#include "tests/support/require.h"

namespace skiplane::rpc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class OriginTest : public ::testing::Test {
 protected:
  // Of a bulk operation whose filter has these headers, in this order.
  model::Origin OriginOf(const std::string& request_id, const std::vector<std::string>& headers) {
    v1::StartBulkOperationRequest request;
    request.set_request_id(request_id);
    request.mutable_filter()->set_queue("q");
    for (const std::string& header : headers) {
      (*request.mutable_filter()->mutable_headers())[header] = "x";
    }
    request.mutable_action()->mutable_retry();
    v1::StartBulkOperationResponse response;
    grpc::ClientContext context;
    const grpc::Status status = front_.admin->StartBulkOperation(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return front_.broker.operators.bulk.origin;
  }

  Front front_;
};

TEST_F(OriginTest, ARepeatIsKnownWhateverTheOrderOfItsMaps) {
  const std::vector<std::string> headers = {"a", "b", "c", "d", "e", "f", "g", "h"};
  const std::vector<std::string> reversed(headers.rbegin(), headers.rend());
  const auto first = OriginOf("r", headers).request;
  const auto again = OriginOf("r", reversed).request;
  ASSERT_TRUE(first.has_value() && again.has_value());
  EXPECT_EQ(first->id, again->id);
  EXPECT_EQ(first->body, again->body);
  EXPECT_NE(OriginOf("r", {"a"}).request->body, first->body);
  EXPECT_EQ(OriginOf("s", headers).request->body, first->body);
  EXPECT_NE(OriginOf("s", headers).request->id, first->id);
}

TEST_F(OriginTest, TheAuditDoesNotHaveTheRequestId) {
  const model::Origin origin = OriginOf("5ecret", {"a"});
  EXPECT_THAT(origin.request_json, HasSubstr("\"queue\":\"q\""));
  EXPECT_THAT(origin.request_json, Not(HasSubstr("5ecret")));
  EXPECT_THAT(origin.request->id, Not(HasSubstr("5ecret")));
}

TEST_F(OriginTest, WithoutAnIdThereIsNoRepeat) {
  EXPECT_FALSE(OriginOf("", {"a"}).request.has_value());
}

}  // namespace
}  // namespace skiplane::rpc
