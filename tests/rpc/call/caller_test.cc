// Which credentials a call may show, and from where.
#include "server/rpc/call/caller.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "server/access/new_token.h"
#include "server/access/token_file.h"
#include "server/base/reason.h"
#include "tests/support/require.h"

namespace skiplane::rpc {
namespace {

using testing::Required;

const Caller kHere = {"ipv4:127.0.0.1:40000", ""};
const Caller kElsewhere = {"ipv4:192.0.2.1:40000", ""};

class CallerTest : public ::testing::Test {
 protected:
  static access::Sources Knows(const access::NewToken& token) {
    access::Sources sources;
    sources.tokens = std::make_shared<const access::TokenTable>(
        Required(access::TokenTable::Parse(token.line, "tokens")));
    sources.takes_certificates = true;
    return sources;
  }

  // Empty if it is admitted.
  std::string Refusal(const Caller& caller, const ShownCredentials& shown) const {
    return base::ReasonOf(Admit(authenticator_, caller, shown).status());
  }

  const access::NewToken token_ = Required(access::MakeToken("worker", {}));
  const access::Authenticator authenticator_{Knows(token_)};
  const std::string header_ = "Bearer " + token_.token;
};

TEST_F(CallerTest, ATokenFromAnotherMachineNeedsTls) {
  EXPECT_EQ(Refusal(kElsewhere, {header_, 1, false}), "CREDENTIALS_NOT_PRIVATE");
  EXPECT_EQ(Refusal(kElsewhere, {header_, 1, true}), "");
  EXPECT_EQ(Refusal(kHere, {header_, 1, false}), "");
}

TEST_F(CallerTest, TwoHeadersAreRefusedThoughTheFirstIsRight) {
  EXPECT_EQ(Refusal(kHere, {header_, 2, true}), "CREDENTIALS_INVALID");
}

TEST_F(CallerTest, AnEmptyHeaderIsRefusedAlsoBesideARightCertificate) {
  const Caller certified = {kHere.address, "worker"};
  EXPECT_EQ(Refusal(certified, {"", 1, true}), "CREDENTIALS_INVALID");
  EXPECT_EQ(Refusal(certified, {"", 0, true}), "");
}

TEST_F(CallerTest, OnlyLoopbackAndSocketsOfFilesAreOnThisMachine) {
  for (const char* address : {"ipv4:127.1.2.3:4", "ipv6:%5B::1%5D:4", "unix:/run/broker"}) {
    EXPECT_TRUE(IsOnThisMachine({address, ""})) << address;
  }
  for (const char* address : {"ipv4:12.7.0.1:4", "ipv6:%5B::11%5D:4", "ipv4:10.127.0.1:4", ""}) {
    EXPECT_FALSE(IsOnThisMachine({address, ""})) << address;
  }
}

}  // namespace
}  // namespace skiplane::rpc
