#include "server/access/token_sealer.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skiplane::access {
namespace {

constexpr size_t kIdBytes = 2;
constexpr size_t kCodeBytes = 16;
constexpr size_t kSecretBytes = 32;

model::TokenKey RandomKey() {
  model::TokenKey key{1, std::string(kSecretBytes, '\0'), true};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(key.secret.data()), kSecretBytes) != 1) {
    std::abort();  // no randomness: nothing that follows would be a secret
  }
  return key;
}

// The token is long enough to name one.
uint16_t KeyIdOf(absl::string_view sealed) {
  const auto* const id = reinterpret_cast<const unsigned char*>(sealed.data()) + sealed.size() -
                         kCodeBytes - kIdBytes;
  return static_cast<uint16_t>(id[0] << 8 | id[1]);
}

}  // namespace

struct TokenSeal::Keys {
  std::map<uint16_t, HmacKey> all;
  uint16_t signs = 0;
};

TokenSeal::TokenSeal(std::shared_ptr<const Keys> keys, bool is_stale, absl::string_view principal)
    : keys_(std::move(keys)),
      is_stale_(is_stale),
      principal_(absl::StrCat(principal.size(), ":", principal)) {}

void TokenSeal::Seal(std::string* token) const {
  token->push_back(static_cast<char>(keys_->signs >> 8));
  token->push_back(static_cast<char>(keys_->signs & 0xFF));
  const Digest code = keys_->all.at(keys_->signs).Code(*token, principal_);
  token->append(reinterpret_cast<const char*>(code.data()), kCodeBytes);
}

std::optional<absl::string_view> TokenSeal::Open(absl::string_view sealed) const {
  if (sealed.size() <= kIdBytes + kCodeBytes) return std::nullopt;
  const absl::string_view signed_part = sealed.substr(0, sealed.size() - kCodeBytes);
  const absl::string_view token = signed_part.substr(0, signed_part.size() - kIdBytes);
  const auto key = keys_->all.find(KeyIdOf(sealed));
  if (key == keys_->all.end()) return std::nullopt;
  const Digest code = key->second.Code(signed_part, principal_);
  const bool is_ours =
      CRYPTO_memcmp(code.data(), sealed.data() + signed_part.size(), kCodeBytes) == 0;
  return is_ours ? std::optional(token) : std::nullopt;
}

bool TokenSeal::MayBeOfNewKey(absl::string_view sealed) const {
  return is_stale_ && sealed.size() > kIdBytes + kCodeBytes &&
         KeyIdOf(sealed) == keys_->all.rbegin()->first + 1;
}

TokenSealer::TokenSealer() {
  const model::TokenKey key = RandomKey();
  Replace({&key, 1});
}

void TokenSealer::Replace(absl::Span<const model::TokenKey> keys) {
  auto made = std::make_shared<TokenSeal::Keys>();
  for (const model::TokenKey& key : keys) {
    const auto id = static_cast<uint16_t>(key.id);
    made->all.emplace(id, HmacKey(key.secret));
    if (key.signs) made->signs = std::max(made->signs, id);
  }
  if (made->all.empty()) {
    const base::MutexLock lock(mutex_);
    is_stale_ = true;
    return;
  }
  // Where the clock went back, the time of none may have come: the oldest is known to every broker.
  if (made->signs == 0) made->signs = made->all.begin()->first;
  const base::MutexLock lock(mutex_);
  keys_ = std::move(made);
  is_stale_ = false;
}

TokenSeal TokenSealer::For(absl::string_view principal) const {
  const base::MutexLock lock(mutex_);
  return TokenSeal(keys_, is_stale_, principal);
}

}  // namespace skiplane::access
