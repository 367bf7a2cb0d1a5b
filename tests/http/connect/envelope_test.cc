#include "server/http/connect/envelope.h"

#include <gtest/gtest.h>

#include "tests/support/require.h"

namespace skiplane::http::connect {
namespace {

TEST(Envelope, HasItsFlagsAndItsLengthBeforeTheMessage) {
  EXPECT_EQ(Envelope(kEndOfStream, "abc"), std::string("\2\0\0\0\3abc", 8));
  EXPECT_EQ(Envelope(kPlain, std::string(0x010203, 'x')).substr(0, 5),
            std::string("\0\0\1\2\3", 5));
}

TEST(Envelope, IsOpenedAgain) {
  EXPECT_EQ(testing::Required(OpenOnlyEnvelope(Envelope(kPlain, "abc"))), "abc");
  EXPECT_EQ(testing::Required(OpenOnlyEnvelope(Envelope(kPlain, ""))), "");
}

TEST(Envelope, AnythingElseIsRefused) {
  const std::string good = Envelope(kPlain, "abc");
  for (const std::string& bad : {std::string(), std::string("{}"), good + "x", good + good,
                                 good.substr(0, 7), Envelope(kEndOfStream, "abc")}) {
    EXPECT_EQ(OpenOnlyEnvelope(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(OpenOnlyEnvelope(Envelope(1, "abc")).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace skiplane::http::connect
