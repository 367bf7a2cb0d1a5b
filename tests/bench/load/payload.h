// What the benchmark's tasks carry: no two alike, which a worker reads to see whether they arrived
// whole. Thread-safe, but for SetPayloadShape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::bench {

struct Payload {
  int64_t number = 0;
  absl::Time begin;  // when its Enqueue was to begin; UnixEpoch() where nobody asks
};

inline constexpr size_t kPayloadBytesLeast = 32;

struct PayloadShape {
  size_t bytes = 200;  // kPayloadBytesLeast and more
  bool json = false;   // text that can be compressed, not random bytes
};

// From now on, for all. Before any load.
void SetPayloadShape(const PayloadShape& wanted);

// The next number of this process, and random bytes or JSON.
std::string NewPayload(absl::Time begin = absl::UnixEpoch());

// Reads every byte; nothing if one of them is not as it was made.
std::optional<Payload> ReadPayload(absl::string_view text);

// What a payload has between its beginning and its check, and the check of a payload with these
// bytes, number 0 and no time. In SQL a payload is
// int8send(number) || int8send(0) || bytes || int8send(check # number).
struct PayloadBody {
  std::string bytes;
  int64_t check = 0;
};
PayloadBody NewPayloadBody();

}  // namespace skiplane::bench
