// Who shares an address: SocketAddress::Party() of an address as gRPC writes it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::net {

// Of "ipv4:192.0.2.1:40000" or "ipv6:%5B2001:db8::1%5D:40000": equal for all ports of an IPv4
// address, whichever kind of socket shows it, and for all of a network of IPv6 (/64). Of any other
// what stands before the last colon. No text.
std::string AddressParty(absl::string_view address);

}  // namespace skiplane::net
