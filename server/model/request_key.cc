#include "server/model/request_key.h"

#include <openssl/sha.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace skiplane::model {
namespace {

constexpr size_t kBytes = sizeof(int64_t);

std::string BigEndian(int64_t number) {
  std::string bytes(kBytes, '\0');
  for (size_t i = 0; i < kBytes; ++i) {
    bytes[i] = static_cast<char>(static_cast<uint64_t>(number) >> (8 * (kBytes - 1 - i)));
  }
  return bytes;
}

}  // namespace

int64_t LeadingInt64(absl::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < kBytes; ++i) {
    number = number << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
  }
  return static_cast<int64_t>(number);
}

RequestKey RequestKeyOf(int64_t lane, absl::string_view request_id) {
  const std::string bytes = absl::StrCat(BigEndian(lane), request_id);
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  RequestKey key{.head = LeadingInt64(request_id)};
  std::copy_n(digest.begin(), key.hash.size(), key.hash.begin());
  return key;
}

}  // namespace skiplane::model
