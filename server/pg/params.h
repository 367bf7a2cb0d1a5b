// The parameters of one statement in PostgreSQL's binary format, in the order $1, $2, …
//
// Binary arrays cost a third of text literals and need no quoting. An array may hold nulls where
// its element is an optional. Not thread-safe; a value is copied once, here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace skiplane::pg {

using Uuid = std::array<uint8_t, 16>;

// A row location: block and offset (type tid).
struct Tid {
  uint32_t block = 0;
  uint16_t offset = 0;
};

class Params {
 public:
  Params& Bool(bool value);
  Params& Int2(int16_t value);
  Params& Int4(int32_t value);
  Params& Int8(int64_t value);
  Params& Float8(double value);
  Params& Text(absl::string_view value);
  Params& Bytea(absl::string_view value);
  Params& UuidValue(const Uuid& value);
  Params& Timestamp(absl::Time value);

  Params& BoolArray(absl::Span<const bool> values);
  Params& Int2Array(absl::Span<const int16_t> values);
  Params& Int4Array(absl::Span<const int32_t> values);
  Params& Int8Array(absl::Span<const int64_t> values);
  Params& OptionalInt2Array(absl::Span<const std::optional<int16_t>> values);
  Params& OptionalInt4Array(absl::Span<const std::optional<int32_t>> values);
  Params& OptionalInt8Array(absl::Span<const std::optional<int64_t>> values);
  Params& OptionalByteaArray(absl::Span<const std::optional<absl::string_view>> values);
  Params& TextArray(absl::Span<const absl::string_view> values);
  Params& OptionalTextArray(absl::Span<const std::optional<absl::string_view>> values);
  Params& ByteaArray(absl::Span<const absl::string_view> values);
  Params& UuidArray(absl::Span<const Uuid> values);
  Params& TidArray(absl::Span<const Tid> values);
  // An absent value is null. absl::InfinitePast() and InfiniteFuture() are -infinity and infinity.
  Params& TimestampArray(absl::Span<const std::optional<absl::Time>> values);

  // Each parameter's bytes. The statement gives the types by its casts ($1::int8[]).
  const std::vector<std::string>& values() const { return values_; }

 private:
  std::vector<std::string> values_;
};

}  // namespace skiplane::pg
