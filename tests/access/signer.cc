#include "tests/access/signer.h"

#include <map>

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/require.h"

namespace skiplane::access {
namespace {

// What `write` writes into memory.
template <typename Write>
std::string Written(const Write& write) {
  BIO* memory = BIO_new(BIO_s_mem());
  write(memory);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory, &text);
  const std::string copy(text, static_cast<size_t>(size));
  BIO_free(memory);
  return copy;
}

const EVP_MD* DigestOf(const std::string& algorithm) {
  if (absl::EndsWith(algorithm, "256")) return EVP_sha256();
  return absl::EndsWith(algorithm, "384") ? EVP_sha384() : EVP_sha512();
}

// The two numbers of a signature of a curve, one behind the other, as tokens have them.
std::string Plain(const std::string& der, size_t size) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  ECDSA_SIG* signature = d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size()));
  std::string plain(2 * size, '\0');
  auto* out = reinterpret_cast<unsigned char*>(plain.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(signature), out, static_cast<int>(size));
  BN_bn2binpad(ECDSA_SIG_get0_s(signature), out + size, static_cast<int>(size));
  ECDSA_SIG_free(signature);
  return plain;
}

}  // namespace

std::string Encode(absl::string_view text) { return absl::WebSafeBase64Escape(text); }

std::string Unsigned(absl::string_view header, absl::string_view payload) {
  return absl::StrCat(Encode(header), ".", Encode(payload), ".");
}

std::string Hmac(absl::string_view key, absl::string_view input) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(input.data()), input.size(), out, &size);
  return std::string(reinterpret_cast<char*>(out), size);
}

const Signer& Signer::Rsa(int bits) {
  static auto* const made = new std::map<int, Signer>();
  const auto found = made->find(bits);
  if (found != made->end()) return found->second;
  return made->emplace(bits, Signer(EVP_RSA_gen(static_cast<size_t>(bits)))).first->second;
}

const Signer& Signer::OtherRsa() {
  static const auto* const made = new Signer(EVP_RSA_gen(size_t{2048}));
  return *made;
}

const Signer& Signer::Curve(const std::string& name) {
  static auto* const made = new std::map<std::string, Signer>();
  const auto found = made->find(name);
  if (found != made->end()) return found->second;
  return made->emplace(name, Signer(EVP_EC_gen(name.c_str()))).first->second;
}

std::string Signer::PublicPem() const {
  return Written([this](BIO* memory) { PEM_write_bio_PUBKEY(memory, key_.get()); });
}

std::string Signer::PrivatePem() const {
  return Written([this](BIO* memory) {
    PEM_write_bio_PrivateKey(memory, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string Signer::CertificatePem() const {
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key_.get());
  X509_sign(certificate, key_.get(), EVP_sha256());
  const std::string pem =
      Written([certificate](BIO* memory) { PEM_write_bio_X509(memory, certificate); });
  X509_free(certificate);
  return pem;
}

std::string Signer::Number(const char* name, size_t size) const {
  BIGNUM* number = nullptr;
  testing::Require(EVP_PKEY_get_bn_param(key_.get(), name, &number) == 1, name);
  if (size == 0) size = static_cast<size_t>(BN_num_bytes(number));
  std::string bytes(size, '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size));
  BN_free(number);
  return bytes;
}

nlohmann::json Signer::PublicJwk(const std::string& id) const {
  nlohmann::json key;
  if (EVP_PKEY_is_a(key_.get(), "RSA") == 1) {
    key = {{"kty", "RSA"}, {"n", Encode(Number("n", 0))}, {"e", Encode(Number("e", 0))}};
  } else {
    const int bits = EVP_PKEY_get_bits(key_.get());
    const size_t size = static_cast<size_t>(bits + 7) / 8;
    key = {{"kty", "EC"},
           {"crv", absl::StrCat("P-", bits)},
           {"x", Encode(Number(OSSL_PKEY_PARAM_EC_PUB_X, size))},
           {"y", Encode(Number(OSSL_PKEY_PARAM_EC_PUB_Y, size))}};
  }
  if (!id.empty()) key["kid"] = id;
  return key;
}

std::string Signer::SignatureOf(const std::string& algorithm, const std::string& input) const {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_PKEY_CTX* key = nullptr;
  const EVP_MD* const digest = DigestOf(algorithm);
  testing::Require(EVP_DigestSignInit(context, &key, digest, nullptr, key_.get()) == 1, "init");
  if (algorithm[0] == 'P') {
    EVP_PKEY_CTX_set_rsa_padding(key, RSA_PKCS1_PSS_PADDING);
    EVP_PKEY_CTX_set_rsa_pss_saltlen(key, RSA_PSS_SALTLEN_DIGEST);
  }
  std::string signature(1024, '\0');
  size_t size = signature.size();
  auto* const out = reinterpret_cast<unsigned char*>(signature.data());
  const auto* const in = reinterpret_cast<const unsigned char*>(input.data());
  testing::Require(EVP_DigestSign(context, out, &size, in, input.size()) == 1, "sign");
  EVP_MD_CTX_free(context);
  signature.resize(size);
  if (algorithm[0] != 'E') return signature;
  return Plain(signature, static_cast<size_t>(EVP_PKEY_get_bits(key_.get()) + 7) / 8);
}

std::string Signer::SignText(const nlohmann::json& header, absl::string_view payload) const {
  const std::string start = Unsigned(header.dump(), payload);
  const std::string input = start.substr(0, start.size() - 1);
  return absl::StrCat(start, Encode(SignatureOf(header.at("alg"), input)));
}

std::string Signer::Sign(const nlohmann::json& header, const nlohmann::json& claims) const {
  return SignText(header, claims.dump());
}

}  // namespace skiplane::access
