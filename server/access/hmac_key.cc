#include "server/access/hmac_key.h"

#include <openssl/crypto.h>

#include <array>
#include <cstdlib>

namespace skiplane::access {
namespace {

constexpr size_t kBlockBytes = 64;

// They fail only without memory.
void Must(int result) {
  if (result != 1) std::abort();
}

}  // namespace

HmacKey::Context HmacKey::Begin(absl::string_view secret, unsigned char pad) {
  std::array<unsigned char, kBlockBytes> block;
  block.fill(pad);
  for (size_t i = 0; i < secret.size(); ++i) block[i] ^= static_cast<unsigned char>(secret[i]);
  Context context(EVP_MD_CTX_new());
  Must(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr));
  Must(EVP_DigestUpdate(context.get(), block.data(), block.size()));
  OPENSSL_cleanse(block.data(), block.size());
  return context;
}

HmacKey::HmacKey(absl::string_view secret)
    : inner_(Begin(secret.substr(0, kBlockBytes), 0x36)),
      outer_(Begin(secret.substr(0, kBlockBytes), 0x5c)) {}

Digest HmacKey::Code(absl::string_view message, absl::string_view rest) const {
  thread_local const Context work(EVP_MD_CTX_new());
  Digest digest;
  Must(EVP_MD_CTX_copy_ex(work.get(), inner_.get()));
  Must(EVP_DigestUpdate(work.get(), message.data(), message.size()));
  Must(EVP_DigestUpdate(work.get(), rest.data(), rest.size()));
  Must(EVP_DigestFinal_ex(work.get(), digest.data(), nullptr));
  Must(EVP_MD_CTX_copy_ex(work.get(), outer_.get()));
  Must(EVP_DigestUpdate(work.get(), digest.data(), digest.size()));
  Must(EVP_DigestFinal_ex(work.get(), digest.data(), nullptr));
  return digest;
}

}  // namespace skiplane::access
