#include "tests/bench/load/payload.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <string_view>

#include "absl/strings/str_format.h"

namespace skiplane::bench {
namespace {

// number, begin, body, check
constexpr size_t kWord = sizeof(int64_t);

PayloadShape payload_shape;

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

size_t BodyBytes() { return payload_shape.bytes - 3 * kWord; }

// What a service may say of an order, again and again, in other numbers each time.
void PutJson(char* at, std::mt19937_64& random) {
  size_t next = 0;
  while (next < BodyBytes()) {
    const std::string item = absl::StrFormat(
        R"({"order_id": %d, "customer": "customer-%d", "status": "%s", "amount_cents": %d}, )",
        random() % 1000000, random() % 5000, random() % 2 == 0 ? "paid" : "open", random() % 99999);
    const size_t bytes = std::min(item.size(), BodyBytes() - next);
    std::memcpy(at + next, item.data(), bytes);
    next += bytes;
  }
}

void PutBody(char* at) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  if (payload_shape.json) return PutJson(at, random);
  for (size_t i = 0; i < BodyBytes(); i += kWord) {
    const uint64_t word = random();
    std::memcpy(at + i, &word, std::min(kWord, BodyBytes() - i));
  }
}

}  // namespace

void SetPayloadShape(const PayloadShape& wanted) { payload_shape = wanted; }

std::string NewPayload(absl::Time begin) {
  static std::atomic<int64_t> last = 0;
  const int64_t number = ++last;
  const int64_t nanos = absl::ToUnixNanos(begin);
  std::string text(payload_shape.bytes, '\0');
  Put(text.data(), number);
  Put(text.data() + kWord, nanos);
  char* const body = text.data() + 2 * kWord;
  PutBody(body);
  Put(body + BodyBytes(), Hash({body, BodyBytes()}) ^ number ^ nanos);
  return text;
}

std::optional<Payload> ReadPayload(absl::string_view text) {
  if (text.size() != payload_shape.bytes) return std::nullopt;
  const int64_t number = Get(text.data());
  const int64_t nanos = Get(text.data() + kWord);
  const absl::string_view body = text.substr(2 * kWord, BodyBytes());
  if (Get(body.data() + BodyBytes()) != (Hash(body) ^ number ^ nanos)) return std::nullopt;
  return Payload{.number = number, .begin = absl::FromUnixNanos(nanos)};
}

PayloadBody NewPayloadBody() {
  PayloadBody body{.bytes = std::string(BodyBytes(), '\0')};
  PutBody(body.bytes.data());
  body.check = Hash(body.bytes);
  return body;
}

}  // namespace skiplane::bench
