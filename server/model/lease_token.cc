#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "server/base/reason.h"
#include "server/model/lease.h"
#include "server/model/limits.h"

namespace skiplane::model {
namespace {

constexpr char kShortVersion = 1;  // without stage and recurrence
constexpr char kVersion = 2;
constexpr char kPackedVersion = 3;  // as the short one: packed tasks have neither
constexpr size_t kChecksumBytes = sizeof(uint32_t);
constexpr size_t kShortBytes = 1 + 3 * sizeof(int64_t) + sizeof(SessionId) + sizeof(int32_t) +
                               sizeof(uint32_t) + sizeof(uint16_t) + kChecksumBytes;
constexpr size_t kTokenBytes = kShortBytes + sizeof(int16_t) + sizeof(uint8_t);

template <typename Integer>
void AppendBigEndian(Integer value, std::string* out) {
  const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
  for (size_t i = sizeof(Integer); i-- > 0;) {
    out->push_back(static_cast<char>((bits >> (8 * i)) & 0xFF));
  }
}

template <typename Integer>
Integer TakeBigEndian(absl::string_view* in) {
  uint64_t bits = 0;
  for (const char c : in->substr(0, sizeof(Integer))) {
    bits = bits << 8 | static_cast<unsigned char>(c);
  }
  in->remove_prefix(sizeof(Integer));
  return static_cast<Integer>(bits);
}

// Not a secret: the session in the token is what nobody can guess.
uint32_t Checksum(absl::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()),
                                       bytes.size()));
}

absl::Status Malformed() {
  return base::Refuse(absl::StatusCode::kInvalidArgument, "INVALID_LEASE_TOKEN",
                      "lease_token: must be the bytes that Lease returned, unchanged");
}

}  // namespace

std::string EncodeLeaseToken(const LeaseToken& token) {
  std::string text;
  text.reserve(kTokenBytes);
  const bool is_short = token.stage == 0 && !token.is_recurring;
  text.push_back(token.IsPacked() ? kPackedVersion : is_short ? kShortVersion : kVersion);
  AppendBigEndian(token.task.lane, &text);
  AppendBigEndian(token.task.id, &text);
  AppendBigEndian(token.lease_number, &text);
  text.append(token.session.begin(), token.session.end());
  AppendBigEndian(token.attempt, &text);
  AppendBigEndian(token.block, &text);
  AppendBigEndian(token.offset, &text);
  if (!is_short) {
    AppendBigEndian(token.stage, &text);
    AppendBigEndian(static_cast<uint8_t>(token.is_recurring), &text);
  }
  AppendBigEndian(Checksum(text), &text);
  return text;
}

absl::StatusOr<LeaseToken> DecodeLeaseToken(absl::string_view text) {
  const bool is_packed = text.size() == kShortBytes && text.front() == kPackedVersion;
  const bool is_short = text.size() == kShortBytes && text.front() == kShortVersion;
  const bool is_long = text.size() == kTokenBytes && text.front() == kVersion;
  if (!is_packed && !is_short && !is_long) return Malformed();
  absl::string_view rest = text.substr(text.size() - kChecksumBytes);
  if (TakeBigEndian<uint32_t>(&rest) != Checksum(text.substr(0, text.size() - kChecksumBytes))) {
    return Malformed();
  }
  rest = text.substr(1);
  LeaseToken token;
  token.task.lane = TakeBigEndian<int64_t>(&rest);
  token.task.id = TakeBigEndian<int64_t>(&rest);
  token.lease_number = TakeBigEndian<int64_t>(&rest);
  std::copy_n(rest.begin(), token.session.size(), token.session.begin());
  rest.remove_prefix(token.session.size());
  token.attempt = TakeBigEndian<int32_t>(&rest);
  token.block = TakeBigEndian<uint32_t>(&rest);
  token.offset = TakeBigEndian<uint16_t>(&rest);
  if (is_long) {
    token.stage = TakeBigEndian<int16_t>(&rest);
    const auto recurring = TakeBigEndian<uint8_t>(&rest);
    token.is_recurring = recurring == 1;
    // What would have been written in the short form, or otherwise, is none of ours.
    const bool is_ours = recurring <= 1 && token.stage >= 0 && (token.stage > 0 || recurring == 1);
    if (!is_ours) return Malformed();
  }
  if (token.IsPacked() != is_packed || (is_packed && token.offset >= kPackTasksMax)) {
    return Malformed();
  }
  if (token.task.lane <= 0 || token.task.id <= 0 || token.lease_number <= 0 || token.attempt <= 0) {
    return Malformed();
  }
  return token;
}

}  // namespace skiplane::model
