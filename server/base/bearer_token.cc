#include "server/base/bearer_token.h"

#include <cstddef>

namespace skiplane::base {
namespace {

constexpr absl::string_view kJwtStart = "eyJ";  // of {" in base64

bool HasSecretBehind(absl::string_view text, absl::string_view start) {
  constexpr size_t kSecretBytes = 32;  // those of a token are more
  const size_t found = text.find(start);
  return found != text.npos && text.size() - found - start.size() >= kSecretBytes;
}

}  // namespace

bool HoldsBearerToken(absl::string_view text) {
  return HasSecretBehind(text, kBearerTokenStart) || HasSecretBehind(text, kJwtStart);
}

std::string ShownPath(const std::string& path) {
  return HoldsBearerToken(path) ? "a bearer token (a file's path belongs here)" : path;
}

}  // namespace skiplane::base
