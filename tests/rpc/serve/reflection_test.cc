// What tools learn of the server's services, whichever version of grpc.reflection they speak, and
// whoever answers it: ours or gRPC's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rpc/front.h"
#include "tests/rpc/serve/raw_stream.h"

namespace skiplane::rpc {
namespace {

using ::testing::HasSubstr;

class Reflection : public ::testing::TestWithParam<const char*> {
 protected:
  // The answer to one request.
  std::string Ask(const std::string& request) {
    const std::string method =
        std::string("/grpc.reflection.") + GetParam() + ".ServerReflection/ServerReflectionInfo";
    RawStream stream(front_.channel, method, request);
    return stream.Read().value_or("");
  }

 private:
  static ServerOptions WithReflection() {
    ServerOptions options;
    options.reflection = true;
    return options;
  }

  Front front_{{}, WithReflection()};
};

TEST_P(Reflection, ListsEveryService) {
  const std::string reply = Ask("\x3a\x01*");  // field 7: list_services
  for (const char* name :
       {"skiplane.v1.BrokerService", "skiplane.v1.AdminService", "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"}) {
    EXPECT_THAT(reply, HasSubstr(name));
  }
}

// It was once listed and not described, so that grpcurl could not call it.
TEST_P(Reflection, DescribesTheHealthServiceToo) {
  // Field 4: the file that contains a symbol.
  EXPECT_THAT(Ask("\x22\x15grpc.health.v1.Health"), HasSubstr("grpc/health/v1/health.proto"));
}

INSTANTIATE_TEST_SUITE_P(Versions, Reflection, ::testing::Values("v1", "v1alpha"));

}  // namespace
}  // namespace skiplane::rpc
