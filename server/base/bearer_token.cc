#include "server/base/bearer_token.h"

#include <cstddef>

namespace skiplane::base {

bool HoldsBearerToken(absl::string_view text) {
  constexpr size_t kSecretBytes = 32;  // those of a token are more
  const size_t start = text.find(kBearerTokenStart);
  return start != text.npos && text.size() - start - kBearerTokenStart.size() >= kSecretBytes;
}

}  // namespace skiplane::base
