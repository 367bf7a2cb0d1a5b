#include "server/access/digest.h"

#include <openssl/sha.h>

namespace skiplane::access {

static_assert(std::tuple_size_v<Digest> == SHA256_DIGEST_LENGTH);

Digest Sha256(absl::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

}  // namespace skiplane::access
