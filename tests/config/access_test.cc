// Who may call: the flags of credentials and rules, and what a port that others reach needs.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/config/config.h"
#include "tests/config/world.h"

namespace skiplane::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AccessFlagsTest : public World {
 protected:
  const std::string file_ = WriteFile("file", "");
};

TEST_F(AccessFlagsTest, EveryFlagReachesItsPlace) {
  const Config config = ParsedWithDatabase(
      {"--token-file", file_, "--jwt-keys", file_, "--jwt-issuer", "https://idp", "--jwt-audience",
       "skiplane", "--jwt-algorithm", "ES384,PS256", "--jwt-groups-claim", "roles", "--rules-file",
       file_, "--open-access", "--tls-cert", file_, "--tls-key", file_, "--tls-client-ca", file_,
       "--tls-client-certificate", "optional"});
  EXPECT_EQ(config.access.token_file, file_);
  EXPECT_EQ(config.access.jwt_keys_file, file_);
  EXPECT_EQ(config.access.jwt_issuer, "https://idp");
  EXPECT_EQ(config.access.jwt_audience, "skiplane");
  EXPECT_THAT(config.access.jwt_algorithms, ElementsAre("ES384", "PS256"));
  EXPECT_EQ(config.access.jwt_groups_claim, "roles");
  EXPECT_EQ(config.access.rules_file, file_);
  EXPECT_TRUE(config.access.is_open);
  EXPECT_FALSE(config.tls.requires_client);
}

TEST_F(AccessFlagsTest, NothingIsAskedByDefault) {
  const Config config = ParsedWithDatabase({});
  EXPECT_EQ(config.access.token_file + config.access.jwt_keys_file + config.access.rules_file, "");
  EXPECT_THAT(config.access.jwt_algorithms, ElementsAre("RS256", "ES256"));
  EXPECT_EQ(config.access.jwt_groups_claim, "groups");
  EXPECT_FALSE(config.access.is_open);
  EXPECT_TRUE(config.tls.requires_client);
}

// A file that was made ready for another start opened the port that others reached.
TEST_F(AccessFlagsTest, AReloadIsJudgedByTheAddressesThatAreServed) {
  const Config running = ParsedWithDatabase({"--listen", "0.0.0.0:7070", "--token-file", file_,
                                             "--tls-cert", file_, "--tls-key", file_});
  const Config next = ParsedWithDatabase({"--listen", "127.0.0.1:7070"});
  EXPECT_THAT(std::string(CheckReload(running, next).message()),
              HasSubstr("nobody would have to prove who calls"));
  EXPECT_TRUE(CheckReload(running, running).ok());
  EXPECT_TRUE(CheckReload(next, next).ok());
}

TEST_F(AccessFlagsTest, WebTokensNeedKeysIssuerAndAudience) {
  EXPECT_THAT(EndedWithDatabase({"--jwt-keys", file_, "--jwt-audience", "a"}).text,
              HasSubstr("--jwt-issuer"));
  EXPECT_THAT(EndedWithDatabase({"--jwt-keys", file_, "--jwt-issuer", "i"}).text,
              HasSubstr("--jwt-audience"));
  for (const std::string flag :
       {"--jwt-issuer", "--jwt-audience", "--jwt-algorithm", "--jwt-groups-claim"}) {
    EXPECT_THAT(EndedWithDatabase({flag, "x"}).text, HasSubstr("--jwt-keys")) << flag;
  }
}

TEST_F(AccessFlagsTest, WhatTakesNoPartIsRefused) {
  for (const std::string flag : {"--token-file", "--jwt-keys", "--rules-file"}) {
    EXPECT_THAT(EndedWithDatabase({flag, "/nonexistent"}).text, HasSubstr(flag)) << flag;
  }
  EXPECT_THAT(EndedWithDatabase({"--tls-client-certificate", "maybe"}).text,
              HasSubstr("must be required or optional"));
  EXPECT_THAT(EndedWithDatabase({"--tls-client-certificate", "required"}).text,
              HasSubstr("--tls-client-ca"));
}

TEST_F(AccessFlagsTest, APortThatOthersReachNeedsCredentialsOrTheWordThatItIsOpen) {
  for (const std::string flag : {"--listen", "--http-listen"}) {
    const std::string open = flag + "=0.0.0.0:0";
    EXPECT_THAT(EndedWithDatabase({open}).text,
                AllOf(HasSubstr(flag + ": other machines reach this address"),
                      HasSubstr("--open-access")));
    EXPECT_THAT(EndedWithDatabase({open, "--rules-file", file_}).text, HasSubstr("--token-file"));
    ParsedWithDatabase({open, "--open-access"});
    ParsedWithDatabase(
        {open, "--token-file", file_, "--tls-cert", file_, "--tls-key", file_});
    EXPECT_THAT(EndedWithDatabase({open, "--token-file", file_}).text,
                HasSubstr(flag + ": other machines reach this address, and tokens"));
    ParsedWithDatabase({open, "--tls-cert", file_, "--tls-key", file_, "--tls-client-ca", file_});
    ParsedWithDatabase({open, "--jwt-keys", file_, "--jwt-issuer", "i", "--jwt-audience", "a",
                        "--tls-cert", file_, "--tls-key", file_});
    ParsedWithDatabase({"migrate", open});  // it listens nowhere
  }
  ParsedWithDatabase({"--listen=[::1]:0", "--http-listen=localhost:0"});
  ParsedWithDatabase({"--metrics-listen=0.0.0.0:0"});
}

// It went to standard error, and so to the log.
TEST_F(AccessFlagsTest, ATokenInPlaceOfAFileIsNotRepeated) {
  const std::string token = "skt_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
  for (const char* flag : {"--token-file", "--rules-file", "--jwt-keys", "--tls-cert"}) {
    const std::string text = EndedWithDatabase({flag, token}).text;
    EXPECT_THAT(text, AllOf(HasSubstr(flag), HasSubstr("a bearer token")));
    EXPECT_THAT(text, ::testing::Not(HasSubstr(token)));
  }
}

TEST_F(AccessFlagsTest, CommandsThatNeedNoBroker) {
  const Config made = Parsed({"make-token", "ci", "builders", "ops"});
  EXPECT_EQ(made.command, Command::kMakeToken);
  EXPECT_EQ(made.token_name, "ci");
  EXPECT_THAT(made.token_groups, ElementsAre("builders", "ops"));
  EXPECT_EQ(ParsedWithDatabase({"check-config"}).command, Command::kCheckConfig);
  EXPECT_THAT(EndedWithDatabase({"check-config", "--listen=0.0.0.0:0"}).text,
              HasSubstr("other machines"));
}

}  // namespace
}  // namespace skiplane::config
