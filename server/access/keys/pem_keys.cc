#include "server/access/keys/pem_keys.h"

#include <memory>
#include <string>
#include <utility>

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace skiplane::access {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

struct OpenSslDeleter {
  void operator()(void* memory) const { OPENSSL_free(memory); }
};

// One part of a file, between its BEGIN and its END.
struct Block {
  std::string label;
  std::string bytes;
};

// Empty label at the end, or behind something that is broken.
Block NextBlock(BIO* memory) {
  char* label = nullptr;
  char* header = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  if (PEM_read_bio(memory, &label, &header, &bytes, &size) != 1) return {};
  const std::unique_ptr<char, OpenSslDeleter> label_owner(label);
  const std::unique_ptr<char, OpenSslDeleter> header_owner(header);
  const std::unique_ptr<unsigned char, OpenSslDeleter> bytes_owner(bytes);
  return {label, std::string(reinterpret_cast<char*>(bytes), static_cast<size_t>(size))};
}

Key KeyOf(const Block& block) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(block.bytes.data());
  const long size = static_cast<long>(block.bytes.size());
  if (block.label == PEM_STRING_PUBLIC) return {d2i_PUBKEY(nullptr, &bytes, size), &EVP_PKEY_free};
  if (block.label == PEM_STRING_RSA_PUBLIC) {
    return {d2i_PublicKey(EVP_PKEY_RSA, nullptr, &bytes, size), &EVP_PKEY_free};
  }
  if (block.label == PEM_STRING_X509) {
    const Certificate certificate(d2i_X509(nullptr, &bytes, size), &X509_free);
    if (certificate != nullptr) return {X509_get_pubkey(certificate.get()), &EVP_PKEY_free};
  }
  return {nullptr, &EVP_PKEY_free};
}

// The parameter of this name, as big-endian bytes; empty if it has none.
std::string NumberOf(const EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return "";
  std::string bytes(static_cast<size_t>(BN_num_bytes(number)), '\0');
  BN_bn2bin(number, reinterpret_cast<unsigned char*>(bytes.data()));
  BN_free(number);
  return bytes;
}

absl::StatusOr<JwtKey> EcKeyOf(const EVP_PKEY* key) {
  char curve[64] = "";
  EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, curve, sizeof(curve), nullptr);
  const std::string x = NumberOf(key, OSSL_PKEY_PARAM_EC_PUB_X);
  const std::string y = NumberOf(key, OSSL_PKEY_PARAM_EC_PUB_Y);
  const absl::string_view name = curve;
  if (name == SN_X9_62_prime256v1) return MakeEcKey(JwtKeyType::kP256, x, y);
  if (name == SN_secp384r1) return MakeEcKey(JwtKeyType::kP384, x, y);
  if (name == SN_secp521r1) return MakeEcKey(JwtKeyType::kP521, x, y);
  return absl::FailedPreconditionError("an elliptic curve other than P-256, P-384 and P-521");
}

absl::StatusOr<JwtKey> Convert(const Block& block) {
  if (absl::StrContains(block.label, "PRIVATE KEY")) {
    return absl::FailedPreconditionError(
        "a private key: only the identity provider may have it; put its public key here");
  }
  const Key key = KeyOf(block);
  if (key == nullptr) {
    return absl::FailedPreconditionError("neither a public key nor a certificate");
  }
  switch (EVP_PKEY_get_base_id(key.get())) {
    case EVP_PKEY_RSA:
      return MakeRsaKey(NumberOf(key.get(), OSSL_PKEY_PARAM_RSA_N),
                        NumberOf(key.get(), OSSL_PKEY_PARAM_RSA_E));
    case EVP_PKEY_EC: return EcKeyOf(key.get());
    default: return absl::FailedPreconditionError("neither an RSA key nor one of a curve");
  }
}

absl::StatusOr<std::vector<JwtKey>> ReadBlocks(BIO* memory) {
  std::vector<JwtKey> keys;
  for (Block block = NextBlock(memory); !block.label.empty(); block = NextBlock(memory)) {
    absl::StatusOr<JwtKey> key = Convert(block);
    if (!key.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("PEM block ", keys.size() + 1, " is ", key.status().message()));
    }
    keys.push_back(*std::move(key));
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return absl::FailedPreconditionError(
        absl::StrCat("PEM block ", keys.size() + 1, " is cut or changed"));
  }
  return keys;
}

}  // namespace

absl::StatusOr<std::vector<JwtKey>> ReadPemKeys(absl::string_view text) {
  ERR_clear_error();
  const Memory memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
  absl::StatusOr<std::vector<JwtKey>> keys = ReadBlocks(memory.get());
  ERR_clear_error();  // gRPC on this thread must not find what was left
  return keys;
}

}  // namespace skiplane::access
