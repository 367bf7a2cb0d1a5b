#include "server/http/connect/call_fields.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/connect/context_peer.h"
#include "tests/support/require.h"

namespace skiplane::http::connect {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Head WithTimeout(std::string text) {
  return {"POST", "/x", {{"connect-timeout-ms", std::move(text)}}};
}

TEST(CallFields, ATimeoutIsANumberOfMilliseconds) {
  EXPECT_EQ(testing::Required(TimeoutOf({"POST", "/x", {}})), std::nullopt);
  EXPECT_EQ(testing::Required(TimeoutOf(WithTimeout("1500"))), absl::Milliseconds(1500));
  EXPECT_EQ(testing::Required(TimeoutOf(WithTimeout("0000000001"))), absl::Milliseconds(1));
  for (const char* bad : {"", "0", "000", "-1", "+1", " 1", "1s", "1.5", "12345678901", "x"}) {
    EXPECT_FALSE(TimeoutOf(WithTimeout(bad)).ok()) << bad;
  }
  const Field twice("connect-timeout-ms", "1");
  EXPECT_FALSE(TimeoutOf({"POST", "/x", {twice, twice}}).ok());
}

std::multimap<std::string, std::string> Written(const Fields& fields, const Caller& caller) {
  grpc::ClientContext context;
  WriteMetadata({"POST", "/x", fields}, caller, &context);
  return grpc::testing::ClientContextTestPeer::Sent(context);
}

TEST(CallFields, ServicesAreToldTheCallerAndWhatIsMeantForThem) {
  EXPECT_THAT(Written({{"host", "x"},
                       {"skiplane-actor", "ann"},
                       {"authorization", "Bearer x"},
                       {"cookie", "y"},
                       {"grpc-timeout", "1S"}},
                      {"ipv4:127.0.0.1:1", "worker"}),
              UnorderedElementsAre(Pair("skiplane-caller-address", "ipv4:127.0.0.1:1"),
                                   Pair("skiplane-caller-name-bin", "worker"),
                                   Pair("skiplane-actor", "ann"),
                                   Pair("authorization", "Bearer x")));
}

TEST(CallFields, NobodySaysWhoCallsOrSendsWhatIsNoMetadata) {
  EXPECT_THAT(Written({{"skiplane-caller-address", "ipv4:6.6.6.6:6"},
                       {"skiplane-caller-name-bin", "Ym9zcw=="},
                       {"skiplane-x-bin", "?"},
                       {"skiplane-~", "x"},
                       {"skiplane-actor", "a\xff"},
                       {"authorization", "a\r\nb"}},
                      {"ipv4:127.0.0.1:1", ""}),
              UnorderedElementsAre(Pair("skiplane-caller-address", "ipv4:127.0.0.1:1")));
}

TEST(CallFields, MetadataOfAnAnswerBecomesFields) {
  const Metadata metadata = {{"skiplane-reason", "X"},
                             {"grpc-status-details-bin", "secret"},
                             {"a-bin", grpc::string_ref("\x01\x02", 2)},
                             {"broken", "\r\nSet-Cookie: x"}};
  Fields fields;
  ReadMetadata(metadata, "trailer-", &fields);
  EXPECT_THAT(fields, ElementsAre(Pair("trailer-a-bin", "AQI="),
                                  Pair("trailer-skiplane-reason", "X")));
}

}  // namespace
}  // namespace skiplane::http::connect
