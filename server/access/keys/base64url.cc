#include "server/access/keys/base64url.h"

#include "absl/strings/escaping.h"

namespace skiplane::access {

std::optional<std::string> DecodeBase64Url(absl::string_view text) {
  std::string bytes;
  const bool is_one_spelling =
      absl::WebSafeBase64Unescape(text, &bytes) && absl::WebSafeBase64Escape(bytes) == text;
  if (!is_one_spelling) return std::nullopt;
  return bytes;
}

}  // namespace skiplane::access
