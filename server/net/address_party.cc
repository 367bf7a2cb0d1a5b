#include "server/net/address_party.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "server/net/socket_address.h"

namespace skiplane::net {
namespace {

template <typename Address>
std::string PartyAt(const Address& address) {
  return SocketAddress(reinterpret_cast<const sockaddr*>(&address), sizeof(address)).Party();
}

// "[2001:db8::1]" without what URIs need; a link's address names its interface behind a "%".
std::string BareIpv6(absl::string_view host) {
  return absl::StrReplaceAll(host.substr(0, host.find("%25")),
                             {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
}

}  // namespace

std::string AddressParty(absl::string_view address) {
  const absl::string_view peer = address.substr(0, address.rfind(':'));
  absl::string_view host = peer;
  if (absl::ConsumePrefix(&host, "ipv4:")) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    if (inet_pton(AF_INET, std::string(host).c_str(), &ipv4.sin_addr) == 1) return PartyAt(ipv4);
  } else if (absl::ConsumePrefix(&host, "ipv6:")) {
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    if (inet_pton(AF_INET6, BareIpv6(host).c_str(), &ipv6.sin6_addr) == 1) return PartyAt(ipv6);
  }
  return std::string(peer);
}

}  // namespace skiplane::net
