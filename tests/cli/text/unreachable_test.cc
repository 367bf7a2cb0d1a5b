// The messages of gRPC are those of its real failures.
#include "client/cli/text/unreachable.h"

#include <gtest/gtest.h>

namespace skiplane::cli {
namespace {

constexpr char kLast[] = "connections to all backends failing; last error: ";

std::string TellLast(const std::string& text) { return TellUnreachable(kLast + text); }

TEST(UnreachableTest, TheAddressAndTheCauseAreToldWithoutGrpcsWords) {
  EXPECT_EQ(TellLast("UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host: Connection "
                     "refused"),
            "no broker was reached at 127.0.0.1:1: Connection refused");
  EXPECT_EQ(TellLast("UNKNOWN: ipv6:%5B::1%5D:7070: Failed to connect to remote host: Connection "
                     "refused"),
            "no broker was reached at [::1]:7070: Connection refused");
  EXPECT_EQ(TellUnreachable("DNS resolution failed for db.invalid:7070: C-ares status is not "
                            "ARES_SUCCESS qtype=A name=db.invalid is_balancer=0: not found"),
            "no address is known for db.invalid:7070");
}

TEST(UnreachableTest, WhatTlsWantsIsNamedByItsOption) {
  EXPECT_EQ(TellLast("UNKNOWN: ipv4:127.0.0.1:7: Ssl handshake failed: SSL_ERROR_SSL: "
                     "error:0A000086:SSL routines::certificate verify failed"),
            "no broker was reached at 127.0.0.1:7: its certificate is not trusted: it may have "
            "expired, or --tls-ca does not name the authority that signed it");
  EXPECT_EQ(TellLast("UNKNOWN: ipv4:127.0.0.1:7: Peer name x is not in peer certificate"),
            "no broker was reached at 127.0.0.1:7: its certificate is for another name; "
            "--tls-server-name says which");
  EXPECT_EQ(TellLast("UNKNOWN: ipv4:127.0.0.1:7: Ssl handshake failed: SSL_ERROR_SSL: "
                     "error:0A00010B:SSL routines::wrong version number"),
            "no broker was reached at 127.0.0.1:7: it speaks plain text; leave out --tls");
  EXPECT_EQ(TellLast("UNAVAILABLE: ipv4:127.0.0.1:7: Socket closed"),
            "no broker was reached at 127.0.0.1:7: it closed the connection; it may want --tls, or "
            "a certificate of yours (--tls-cert), or it may have refused your certificate "
            "(expired, of another authority, not for clients)");
  EXPECT_EQ(TellUnreachable("empty address list: "),
            "the PEM files of --tls-ca, --tls-cert and --tls-key cannot be used");
}

TEST(UnreachableTest, WhatIsNotKnownIsToldAsItIs) {
  EXPECT_EQ(TellUnreachable("queue \"x\" is paused"), "queue \"x\" is paused");
  EXPECT_EQ(TellLast("strange"), "no broker was reached: strange");
  EXPECT_EQ(TellLast("UNKNOWN: strange"), "no broker was reached: strange");
  EXPECT_EQ(TellLast(""), "no broker was reached: ");
}

}  // namespace
}  // namespace skiplane::cli
