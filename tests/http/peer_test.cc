#include "server/http/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace skiplane::http {
namespace {

net::SocketAddress Ipv6(const char* text) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(40000);
  EXPECT_EQ(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
  return {reinterpret_cast<const sockaddr*>(&address), sizeof(address)};
}

TEST(AddressOfPeer, IsSpelledAsGrpcDoes) {
  EXPECT_EQ(AddressOfPeer(net::SocketAddress::LoopbackIpv4(40000)), "ipv4:127.0.0.1:40000");
  EXPECT_EQ(AddressOfPeer(Ipv6("::1")), "ipv6:%5B::1%5D:40000");
  EXPECT_EQ(AddressOfPeer(Ipv6("2001:db8::7")), "ipv6:%5B2001:db8::7%5D:40000");
}

TEST(AddressOfPeer, AnIpv4AddressOfASocketOfIpv6IsOne) {
  EXPECT_EQ(AddressOfPeer(Ipv6("::ffff:192.0.2.1")), "ipv4:192.0.2.1:40000");
  EXPECT_EQ(AddressOfPeer(Ipv6("2001:db8::ffff:7")), "ipv6:%5B2001:db8::ffff:7%5D:40000");
}

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* made) const {
    kFree(made);
  }
};
using Context = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Free<SSL_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;

// With alternative names as OpenSSL's configuration spells them; none if empty.
Certificate CertificateOf(EVP_PKEY* key, const char* common_name, const char* names) {
  Certificate made(X509_new());
  X509_set_version(made.get(), 2);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name), -1, -1, 0);
  if (*names != '\0') {
    X509_EXTENSION* extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
    X509_add_ext(made.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(made.get(), key, EVP_sha256());
  return made;
}

// What a server sees of a client that shows a certificate. Both use the same one.
std::string NameOf(const char* common_name, const char* names, bool is_shown = true) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = CertificateOf(key.get(), common_name, names);
  Session ends[2];
  for (const bool is_server : {false, true}) {
    const Context context(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method()));
    if (is_server || is_shown) {
      SSL_CTX_use_certificate(context.get(), certificate.get());
      SSL_CTX_use_PrivateKey(context.get(), key.get());
    }
    SSL_CTX_set_verify(context.get(), is_server ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                       [](int, X509_STORE_CTX*) { return 1; });
    ends[is_server].reset(SSL_new(context.get()));
  }
  BIO* one = nullptr;
  BIO* other = nullptr;
  BIO_new_bio_pair(&one, 0, &other, 0);
  SSL_set_bio(ends[0].get(), one, one);
  SSL_set_bio(ends[1].get(), other, other);
  for (int i = 0; i < 10; ++i) {
    SSL_connect(ends[0].get());
    SSL_accept(ends[1].get());
  }
  EXPECT_TRUE(SSL_is_init_finished(ends[1].get()));
  return NameOfPeer(ends[1].get());
}

TEST(NameOfPeer, IsTheFirstAlternativeNameOfWhateverKind) {
  EXPECT_EQ(NameOf("cn", "DNS:worker.example,DNS:other.example"), "worker.example");
  EXPECT_EQ(NameOf("cn", "email:ann@example.com,DNS:worker.example"), "ann@example.com");
  EXPECT_EQ(NameOf("cn", "URI:spiffe://example/worker"), "spiffe://example/worker");
  EXPECT_EQ(NameOf("cn", "IP:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(NameOf("cn", "IP:2001:db8::7"), "2001:db8::7");
}

// The gRPC port refused such a certificate; the HTTP port took the next name for it.
TEST(NameOfPeer, IsNoneThatComesAfterOneThatNobodyReads) {
  EXPECT_EQ(NameOf("cn", "RID:1.2.3.4,DNS:worker.example"), "other types of SAN");
  EXPECT_EQ(NameOf("cn", "RID:1.2.3.4"), "other types of SAN");
}

TEST(NameOfPeer, IsElseTheCommonName) {
  EXPECT_EQ(NameOf("ann", ""), "ann");
}

TEST(NameOfPeer, IsEmptyWithoutACertificate) { EXPECT_EQ(NameOf("ann", "", false), ""); }

}  // namespace
}  // namespace skiplane::http
