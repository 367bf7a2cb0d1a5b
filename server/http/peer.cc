#include "server/http/peer.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/net/certificate_time.h"

namespace skiplane::http {
namespace {

// As gRPC tells it. No principal is called so: who shows such a certificate is refused.
constexpr char kOtherKind[] = "other types of SAN";

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Certificate CertificateOf(const SSL* ssl) { return {SSL_get1_peer_certificate(ssl), &X509_free}; }

std::string TextOf(const ASN1_STRING* text) {
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressOf(const ASN1_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  const bool is_ipv4 = ASN1_STRING_length(bytes) == 4;
  if (!is_ipv4 && ASN1_STRING_length(bytes) != 16) return "";
  inet_ntop(is_ipv4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(bytes), text, sizeof(text));
  return text;
}

// The first one only: another one names somebody else at the gRPC port. Unset if there is none.
std::optional<std::string> AlternativeName(const X509* certificate) {
  using Names = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;
  const Names names(static_cast<GENERAL_NAMES*>(
                        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
                    &GENERAL_NAMES_free);
  if (names == nullptr || sk_GENERAL_NAME_num(names.get()) == 0) return std::nullopt;
  const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), 0);
  switch (name->type) {
    case GEN_DNS: return TextOf(name->d.dNSName);
    case GEN_EMAIL: return TextOf(name->d.rfc822Name);
    case GEN_URI: return TextOf(name->d.uniformResourceIdentifier);
    case GEN_IPADD: return AddressOf(name->d.iPAddress);
    default: return kOtherKind;
  }
}

std::string CommonName(const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int found = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (found < 0) return "";
  return TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, found)));
}

}  // namespace

std::string AddressOfPeer(const net::SocketAddress& peer) {
  const std::string text = peer.Text();
  if (peer.family() != AF_INET6) return absl::StrCat("ipv4:", text);
  // An address of IPv4 that came by a socket of IPv6.
  if (absl::StartsWith(text, "[::ffff:") && absl::StrContains(text, '.')) {
    return absl::StrCat("ipv4:", absl::StrReplaceAll(text, {{"[::ffff:", ""}, {"]", ""}}));
  }
  return absl::StrCat("ipv6:", absl::StrReplaceAll(text, {{"[", "%5B"}, {"]", "%5D"}}));
}

std::string NameOfPeer(const SSL* ssl) {
  const Certificate certificate = CertificateOf(ssl);
  if (certificate == nullptr) return "";
  std::optional<std::string> name = AlternativeName(certificate.get());
  return name.has_value() ? *std::move(name) : CommonName(certificate.get());
}

absl::Time ExpiryOfPeer(const SSL* ssl) {
  const Certificate certificate = CertificateOf(ssl);
  return certificate == nullptr ? absl::InfiniteFuture() : net::ExpiryOf(*certificate);
}

}  // namespace skiplane::http
