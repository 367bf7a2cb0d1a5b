// Who is at the other end of a connection, as gRPC has it.
#pragma once

#include <openssl/ssl.h>

#include <string>

#include "absl/time/time.h"
#include "server/net/socket_address.h"

namespace skiplane::http {

// "ipv4:127.0.0.1:40000", "ipv6:%5B::1%5D:40000".
std::string AddressOfPeer(const net::SocketAddress& peer);

// The first alternative name of the certificate that the other end has shown or, if that has none,
// the common name of its subject. Empty without a certificate. A name of a kind that gRPC does not
// read is told as gRPC does, and is no principal's.
std::string NameOfPeer(const SSL* ssl);

// When that certificate expires; never if the other end has shown none.
absl::Time ExpiryOfPeer(const SSL* ssl);

}  // namespace skiplane::http
