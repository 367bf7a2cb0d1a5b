#include "server/base/bearer_token.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace skiplane::base {
namespace {

// How many characters of a token the text begins with.
size_t TokenBytes(absl::string_view text) {
  const auto is_part = [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; };
  return static_cast<size_t>(std::ranges::find_if_not(text, is_part) - text.begin());
}

// Three parts with points between them, the first two of which are JSON in base64.
bool BeginsWithJwt(absl::string_view text) {
  constexpr size_t kPartBytesLeast = 16;
  for (int part = 0; part < 2; ++part) {
    const size_t bytes = TokenBytes(text);
    if (bytes < kPartBytesLeast || !absl::StartsWith(text, "eyJ")) return false;
    text.remove_prefix(bytes);
    if (!absl::ConsumePrefix(&text, ".")) return false;
  }
  return TokenBytes(text) > 0;
}

bool BeginsWithToken(absl::string_view text) {
  constexpr size_t kSecretBytesLeast = 32;  // those of a token are more
  const bool is_ours = absl::ConsumePrefix(&text, kBearerTokenStart);
  return is_ours ? TokenBytes(text) >= kSecretBytesLeast : BeginsWithJwt(text);
}

}  // namespace

bool HoldsBearerToken(absl::string_view text) {
  for (; !text.empty(); text.remove_prefix(1)) {
    if (BeginsWithToken(text)) return true;
  }
  return false;
}

std::string ShownPath(const std::string& path) {
  return HoldsBearerToken(path) ? "a bearer token (a file's path belongs here)" : path;
}

}  // namespace skiplane::base
