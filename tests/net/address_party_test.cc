// Which addresses, as gRPC writes them, are those of one party.
#include "server/net/address_party.h"

#include "gtest/gtest.h"

namespace skiplane::net {
namespace {

TEST(AddressPartyTest, IsTheSameForAllPortsOfAnAddressOfIpv4) {
  EXPECT_EQ(AddressParty("ipv4:192.0.2.1:40000"), AddressParty("ipv4:192.0.2.1:40001"));
  EXPECT_NE(AddressParty("ipv4:192.0.2.1:40000"), AddressParty("ipv4:192.0.2.2:40000"));
}

TEST(AddressPartyTest, IsTheSameForANetworkOfIpv6) {
  EXPECT_EQ(AddressParty("ipv6:%5B2001:db8::1%5D:40000"), AddressParty("ipv6:[2001:db8::2]:40001"));
  EXPECT_EQ(AddressParty("ipv6:%5Bfe80::1%25eth0%5D:1"), AddressParty("ipv6:%5Bfe80::1%5D:1"));
  EXPECT_NE(AddressParty("ipv6:%5B2001:db8::1%5D:1"), AddressParty("ipv6:%5B2001:db8:0:1::1%5D:1"));
}

TEST(AddressPartyTest, IsTheSameWhicheverSocketShowsAnAddress) {
  EXPECT_EQ(AddressParty("ipv4:192.0.2.1:1"), AddressParty("ipv6:%5B::ffff:192.0.2.1%5D:1"));
}

TEST(AddressPartyTest, IsWhatStandsThereIfItIsNoAddress) {
  EXPECT_EQ(AddressParty("unix:/run/skiplane.sock"), "unix");
  EXPECT_EQ(AddressParty("ipv4:nowhere:1"), "ipv4:nowhere");
  EXPECT_EQ(AddressParty("nowhere"), "nowhere");
  EXPECT_EQ(AddressParty(""), "");
}

}  // namespace
}  // namespace skiplane::net
