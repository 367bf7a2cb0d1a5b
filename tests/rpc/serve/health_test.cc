#include <gtest/gtest.h>

#include "tests/rpc/front.h"
#include "tests/rpc/serve/raw_stream.h"

namespace skiplane::rpc {
namespace {

constexpr int kServing = 1;
constexpr int kNotServing = 2;

const std::vector<std::string>& ReadinessNames() {
  static const std::vector<std::string> names = {"", "skiplane.v1.BrokerService",
                                                 "skiplane.v1.AdminService"};
  return names;
}

TEST(Health, IsNotReadyUntilToldSo) {
  Front front;
  for (const std::string& name : ReadinessNames()) {
    EXPECT_EQ(HealthOf(front.channel, name), kNotServing) << name;
  }
}

TEST(Health, ReadinessFollowsTheBrokerAndLivenessDoesNot) {
  Front front;
  for (const bool ready : {true, false, true}) {
    front.server->SetReady(ready);
    for (const std::string& name : ReadinessNames()) {
      EXPECT_EQ(HealthOf(front.channel, name), ready ? kServing : kNotServing) << name;
    }
    EXPECT_EQ(HealthOf(front.channel, "liveness"), kServing);
  }
}

TEST(Health, DoesNotKnowOtherServices) {
  Front front;
  RawStream check(front.channel, "/grpc.health.v1.Health/Check", HealthRequest("skiplane.v1.No"));
  EXPECT_EQ(check.Read(), std::nullopt);
  EXPECT_EQ(check.Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace skiplane::rpc
