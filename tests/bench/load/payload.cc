#include "tests/bench/load/payload.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <string_view>


namespace skiplane::bench {
namespace {

// number, begin, random bytes, check
constexpr size_t kWord = sizeof(int64_t);
constexpr size_t kBodyBytes = 176;
constexpr size_t kPayloadBytes = kBodyBytes + 3 * kWord;

int64_t Hash(absl::string_view body) {
  return static_cast<int64_t>(std::hash<std::string_view>()({body.data(), body.size()}));
}

// Big-endian, as int8send() writes it.
void Put(char* at, int64_t value) {
  for (size_t i = 0; i < kWord; ++i) {
    at[i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * (kWord - 1 - i)));
  }
}

int64_t Get(const char* at) {
  uint64_t value = 0;
  for (size_t i = 0; i < kWord; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return static_cast<int64_t>(value);
}

void Randomize(char* at) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  static_assert(kBodyBytes % kWord == 0);
  for (size_t i = 0; i < kBodyBytes; i += kWord) {
    const uint64_t word = random();
    std::memcpy(at + i, &word, kWord);
  }
}

}  // namespace

std::string NewPayload(absl::Time begin) {
  static std::atomic<int64_t> last = 0;
  const int64_t number = ++last;
  const int64_t nanos = absl::ToUnixNanos(begin);
  std::string text(kPayloadBytes, '\0');
  Put(text.data(), number);
  Put(text.data() + kWord, nanos);
  char* const body = text.data() + 2 * kWord;
  Randomize(body);
  Put(body + kBodyBytes, Hash({body, kBodyBytes}) ^ number ^ nanos);
  return text;
}

std::optional<Payload> ReadPayload(absl::string_view text) {
  if (text.size() != kPayloadBytes) return std::nullopt;
  const int64_t number = Get(text.data());
  const int64_t nanos = Get(text.data() + kWord);
  const absl::string_view body = text.substr(2 * kWord, kBodyBytes);
  if (Get(body.data() + kBodyBytes) != (Hash(body) ^ number ^ nanos)) return std::nullopt;
  return Payload{.number = number, .begin = absl::FromUnixNanos(nanos)};
}

PayloadBody NewPayloadBody() {
  PayloadBody body{.bytes = std::string(kBodyBytes, '\0')};
  Randomize(body.bytes.data());
  body.check = Hash(body.bytes);
  return body;
}

}  // namespace skiplane::bench
