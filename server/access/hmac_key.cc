#include "server/access/hmac_key.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>

// Each copy of an EVP_MD_CTX is an allocation, and a code needs two: half of what a code costs. The
// functions without are deprecated since OpenSSL 3, which has them still.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace skiplane::access {
namespace {

constexpr size_t kBlockBytes = 64;

SHA256_CTX Begin(absl::string_view secret, unsigned char pad) {
  std::array<unsigned char, kBlockBytes> block;
  block.fill(pad);
  for (size_t i = 0; i < secret.size(); ++i) block[i] ^= static_cast<unsigned char>(secret[i]);
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, block.data(), block.size());
  OPENSSL_cleanse(block.data(), block.size());
  return state;
}

}  // namespace

// The states after the first block, which holds the key.
struct HmacKey::Pads {
  explicit Pads(absl::string_view secret)
      : inner(Begin(secret, 0x36)), outer(Begin(secret, 0x5c)) {}
  ~Pads() {
    OPENSSL_cleanse(&inner, sizeof(inner));
    OPENSSL_cleanse(&outer, sizeof(outer));
  }
  Pads(const Pads&) = delete;
  Pads& operator=(const Pads&) = delete;

  SHA256_CTX inner;
  SHA256_CTX outer;
};

HmacKey::HmacKey(absl::string_view secret)
    : pads_(std::make_unique<const Pads>(secret.substr(0, kBlockBytes))) {}

HmacKey::~HmacKey() = default;
HmacKey::HmacKey(HmacKey&&) noexcept = default;
HmacKey& HmacKey::operator=(HmacKey&&) noexcept = default;

Digest HmacKey::Code(absl::string_view message, absl::string_view rest) const {
  Digest digest;
  SHA256_CTX state = pads_->inner;
  SHA256_Update(&state, message.data(), message.size());
  SHA256_Update(&state, rest.data(), rest.size());
  SHA256_Final(digest.data(), &state);
  state = pads_->outer;
  SHA256_Update(&state, digest.data(), digest.size());
  SHA256_Final(digest.data(), &state);
  return digest;
}

}  // namespace skiplane::access

#pragma GCC diagnostic pop
