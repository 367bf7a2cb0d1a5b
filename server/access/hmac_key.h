// HMAC-SHA-256 (RFC 2104) with one key, prepared once: two short messages per task are signed and
// verified, and to set up the key each time would cost more than they do. Does not change; used by
// any thread.
#pragma once

#include <openssl/evp.h>

#include <memory>

#include "absl/strings/string_view.h"
#include "server/access/digest.h"

namespace skiplane::access {

class HmacKey {
 public:
  // Of 1 to 64 bytes.
  explicit HmacKey(absl::string_view secret);

  // The code of both parts, one behind the other.
  Digest Code(absl::string_view message, absl::string_view rest) const;

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  using Context = std::unique_ptr<EVP_MD_CTX, Free>;

  static Context Begin(absl::string_view secret, unsigned char pad);

  Context inner_;
  Context outer_;
};

}  // namespace skiplane::access
