#include "server/config/address.h"

#include "gtest/gtest.h"

namespace skiplane::config {
namespace {

TEST(AddressTest, HostsAndPortsAreAccepted) {
  for (const char* text : {"127.0.0.1:7070", "0.0.0.0:0", "[::1]:65535", "[::]:1",
                           "localhost:7070", "broker-1.internal:7070"}) {
    EXPECT_EQ(CheckAddress(text), "") << text;
  }
}

TEST(AddressTest, OtherTextsAreNoAddress) {
  for (const char* text :
       {"", ":", "7070", ":7070", "localhost", "localhost:", "localhost:65536", "localhost:-1",
        "localhost:+1", "localhost: 1", "localhost:1x", "localhost:000001", "1.2.3:70",
        "1.2.3.4.5:70", "256.0.0.1:70", "::1:7070", "[::1]", "[::1:7070", "[127.0.0.1]:70",
        "[localhost]:70", "a b:1", "a/b:1", "a,b:1", "unix:/tmp/x:1"}) {
    EXPECT_NE(CheckAddress(text), "") << text;
    EXPECT_NE(CheckNumericAddress(text), "") << text;
  }
}

TEST(AddressTest, ANumericAddressHasNoName) {
  EXPECT_EQ(CheckNumericAddress("127.0.0.1:9464"), "");
  EXPECT_EQ(CheckNumericAddress("[::1]:9464"), "");
  EXPECT_NE(CheckNumericAddress("localhost:9464"), "");
}

TEST(AddressTest, APasswordOfTheDatabaseIsNotTakenForItsHost) {
  for (const char* text : {"postgresql://", "postgres://u:p@h:1/d?options=a@b", "postgresql:///d",
                           "postgresql://u:a%40b@h1,h2/d"}) {
    EXPECT_EQ(CheckDatabaseUri(text), "") << text;
  }
  EXPECT_NE(CheckDatabaseUri("http://h"), "");
  EXPECT_EQ(CheckDatabaseUri("postgresql://u:my@secret@h/d"),
            "must have one @, before the host: in a user or password write it as %40");
}

TEST(AddressTest, LoopbackIsWhatOnlyThisMachineReaches) {
  for (const char* text : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "LocalHost:1"}) {
    EXPECT_TRUE(IsLoopback(text)) << text;
  }
  for (const char* text :
       {"0.0.0.0:1", "128.0.0.1:1", "10.0.0.1:1", "[::]:1", "[::2]:1", "localhost.example:1"}) {
    EXPECT_FALSE(IsLoopback(text)) << text;
  }
}

}  // namespace
}  // namespace skiplane::config
