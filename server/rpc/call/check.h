// The checks that many fields of requests share. Each returns OK or INVALID_FIELD on its field and
// changes nothing: a value out of its range is refused, never adjusted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/rpc/call/field.h"

namespace skiplane::rpc {

struct Range {
  int64_t least;
  int64_t most;
};

// At most `bytes_max` bytes, none of them NUL, which PostgreSQL's text cannot hold. That it is
// UTF-8 was checked by protobuf.
absl::Status CheckText(absl::string_view text, size_t bytes_max, const Field& field);

// As CheckText, and not empty.
absl::Status CheckRequiredText(absl::string_view text, size_t bytes_max, const Field& field);

// At most `bytes_max` bytes of any kind.
absl::Status CheckBytes(absl::string_view bytes, size_t bytes_max, const Field& field);

absl::Status CheckNumber(int64_t value, Range range, const Field& field);

// The number of elements of a repeated field.
absl::Status CheckCount(int count, Range range, const Field& field);

// REQUEST_TOO_LARGE: the bytes of a request, or of a message of a stream.
absl::Status CheckRequestSize(size_t bytes);

}  // namespace skiplane::rpc
