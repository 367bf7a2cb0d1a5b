#include "server/rpc/call/page_token.h"

#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/rpc/call/field.h"

namespace skiplane::rpc {
namespace {

constexpr char kVersion = 1;
constexpr size_t kChecksumBytes = 4;

// FNV-1a, big-endian.
std::string Checksum(absl::string_view bytes) {
  uint32_t hash = 2166136261U;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>((hash >> shift) & 0xffU));
  }
  return text;
}

}  // namespace

std::string EncodePageToken(absl::string_view last_name) {
  const std::string body = absl::StrCat(absl::string_view(&kVersion, 1), last_name);
  return absl::WebSafeBase64Escape(absl::StrCat(body, Checksum(body)));
}

absl::StatusOr<std::string> DecodePageToken(absl::string_view token) {
  std::string bytes;
  // Encoding again refuses the other spellings that base64 allows for the same bytes.
  const bool decoded =
      absl::WebSafeBase64Unescape(token, &bytes) && absl::WebSafeBase64Escape(bytes) == token;
  if (decoded && bytes.size() > 1 + kChecksumBytes && bytes.front() == kVersion) {
    const std::string body = bytes.substr(0, bytes.size() - kChecksumBytes);
    if (bytes.substr(body.size()) == Checksum(body)) return body.substr(1);
  }
  return InvalidField({"page_token"}, "must be a next_page_token of ListQueues");
}

}  // namespace skiplane::rpc
