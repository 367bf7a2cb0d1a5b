#include "server/net/certificate_time.h"

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/net/certificate.h"

namespace skiplane::net {
namespace {

TEST(CertificateTimeTest, OfATextItIsThatOfItsFirstCertificate) {
  const std::string text = FileText(MakePair("brief", absl::Seconds(60)).certificate) +
                           FileText(MakePair("long").certificate);
  for (int i = 0; i < 2; ++i) {  // read, and remembered
    const absl::Duration rest = ExpiryOfPem(text) - absl::Now();
    EXPECT_GT(rest, absl::ZeroDuration());
    EXPECT_LE(rest, absl::Seconds(60));
  }
}

TEST(CertificateTimeTest, WhatIsNoCertificateHasExpired) {
  EXPECT_EQ(ExpiryOfPem(""), absl::InfinitePast());
  EXPECT_EQ(ExpiryOfPem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            absl::InfinitePast());
}

TEST(CertificateTimeTest, MoreAreReadThanAreRemembered) {
  const std::string text = FileText(MakePair("one").certificate);
  const absl::Time expiry = ExpiryOfPem(text);
  for (int i = 0; i < 1500; ++i) ExpiryOfPem(std::to_string(i));
  EXPECT_EQ(ExpiryOfPem(text), expiry);
}

}  // namespace
}  // namespace skiplane::net
