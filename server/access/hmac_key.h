// HMAC-SHA-256 (RFC 2104) with one key, prepared once: two short messages per task are signed and
// verified, and to set up the key each time would cost more than they do. Does not change; used by
// any thread.
#pragma once

#include <memory>

#include "absl/strings/string_view.h"
#include "server/access/digest.h"

namespace skiplane::access {

class HmacKey {
 public:
  // Of 1 to 64 bytes.
  explicit HmacKey(absl::string_view secret);
  ~HmacKey();
  HmacKey(HmacKey&&) noexcept;
  HmacKey& operator=(HmacKey&&) noexcept;

  // The code of both parts, one behind the other.
  Digest Code(absl::string_view message, absl::string_view rest) const;

 private:
  struct Pads;

  std::unique_ptr<const Pads> pads_;
};

}  // namespace skiplane::access
