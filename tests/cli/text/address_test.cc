#include "client/cli/text/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skiplane::cli {
namespace {

using ::testing::ElementsAre;

TEST(AddressTest, OneWithoutAPortGetsTheUsualOne) {
  EXPECT_THAT(ParseAddresses("localhost"), ElementsAre("localhost:7070"));
  EXPECT_THAT(ParseAddresses("10.0.0.1,broker:1"), ElementsAre("10.0.0.1:7070", "broker:1"));
  EXPECT_THAT(ParseAddresses(" a:1 , b "), ElementsAre("a:1", "b:7070"));
  EXPECT_THAT(ParseAddresses("[::1]"), ElementsAre("[::1]:7070"));
  EXPECT_THAT(ParseAddresses("::1"), ElementsAre("[::1]:7070"));
}

TEST(AddressTest, OthersStayAsTheyAre) {
  EXPECT_THAT(ParseAddresses("[::1]:9"), ElementsAre("[::1]:9"));
  EXPECT_THAT(ParseAddresses("dns:///broker:9"), ElementsAre("dns:///broker:9"));
  EXPECT_THAT(ParseAddresses("unix:/run/broker"), ElementsAre("unix:/run/broker"));
  EXPECT_THAT(ParseAddresses(""), ElementsAre());
}

}  // namespace
}  // namespace skiplane::cli
