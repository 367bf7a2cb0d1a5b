// Seals lease tokens: what a broker hands out is taken back only unchanged, and only from the
// principal that got it.
//
// A sealed token is the token, the number of the key (2 bytes), and the first 128 bits of an
// HMAC-SHA-256 over both and the principal's name. The token names its task, its session and its
// attempt, so it proves the right to settle nothing else.
//
// The keys are those of all brokers on the database. A new one signs only when every broker knows
// it; old ones verify for as long as a lease may live that they signed. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/access/hmac_key.h"
#include "server/base/mutex.h"
#include "server/model/token_key.h"

namespace skiplane::access {

// What seals and opens the tokens of one call. Keeps the keys as they were when it was made.
class TokenSeal {
 public:
  void Seal(std::string* token) const;
  // The token that was sealed, of which the result is a part. Unset: none of ours, or another
  // principal's.
  std::optional<absl::string_view> Open(absl::string_view sealed) const;
  // Whether one that Open() does not take may be of a key that is not known here: it names the one
  // after the newest, and the keys could not be read of late. Who has read them knows all that
  // sign.
  bool MayBeOfNewKey(absl::string_view sealed) const;

 private:
  friend class TokenSealer;
  struct Keys;
  TokenSeal(std::shared_ptr<const Keys> keys, bool is_stale, absl::string_view principal);

  std::shared_ptr<const Keys> keys_;
  bool is_stale_;
  std::string principal_;  // behind its length, which says where it begins
};

class TokenSealer {
 public:
  // With a random key, until Replace() brings those of the database.
  TokenSealer();

  // Where none of them signs, the oldest does. No keys: they could not be read, and those of before
  // stay.
  void Replace(absl::Span<const model::TokenKey> keys);

  TokenSeal For(absl::string_view principal) const;

 private:
  mutable base::Mutex mutex_;
  std::shared_ptr<const TokenSeal::Keys> keys_ ABSL_GUARDED_BY(mutex_);
  bool is_stale_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skiplane::access
