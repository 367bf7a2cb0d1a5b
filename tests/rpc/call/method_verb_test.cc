#include "server/rpc/call/method_verb.h"

#include <google/protobuf/descriptor.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "skiplane/v1/admin.pb.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::rpc {
namespace {

// Whoever adds a method decides who may call it: without a verb nobody may.
TEST(MethodVerbTest, EveryMethodOfTheApiIsListed) {
  const google::protobuf::ServiceDescriptor* const services[] = {
      v1::EnqueueRequest::descriptor()->file()->service(0),
      v1::GetQueueRequest::descriptor()->file()->service(0)};
  int methods = 0;
  for (const auto* const service : services) {
    for (int i = 0; i < service->method_count(); ++i, ++methods) {
      const std::string method =
          absl::StrCat(service->full_name(), "/", service->method(i)->name());
      EXPECT_TRUE(VerbOf(method).ok()) << method;
    }
  }
  EXPECT_GT(methods, 30);
}

TEST(MethodVerbTest, AMethodThatIsNotListedHasNone) {
  EXPECT_FALSE(VerbOf("skiplane.v1.AdminService/NewMethod").ok());
  EXPECT_FALSE(VerbOf("").ok());
}

}  // namespace
}  // namespace skiplane::rpc
