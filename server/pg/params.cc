#include "server/pg/params.h"

#include <bit>
#include <limits>
#include <type_traits>

namespace skiplane::pg {
namespace {

// Type oids from PostgreSQL's catalogue; they never change.
constexpr uint32_t kBoolOid = 16;
constexpr uint32_t kByteaOid = 17;
constexpr uint32_t kInt8Oid = 20;
constexpr uint32_t kInt2Oid = 21;
constexpr uint32_t kInt4Oid = 23;
constexpr uint32_t kTextOid = 25;
constexpr uint32_t kTidOid = 27;
constexpr uint32_t kTimestamptzOid = 1184;
constexpr uint32_t kUuidOid = 2950;

constexpr size_t kArrayHeaderBytes = 20;
constexpr size_t kLengthBytes = 4;
constexpr int64_t kUnixMicrosOf2000 = 946684800000000;

template <typename Integer>
void AppendBig(Integer value, std::string& out) {
  using Bits = std::make_unsigned_t<Integer>;
  Bits bits = static_cast<Bits>(value);
  char bytes[sizeof(Bits)];
  for (size_t i = sizeof(Bits); i-- > 0;) {
    bytes[i] = static_cast<char>(bits & 0xff);
    if constexpr (sizeof(Bits) > 1) bits = static_cast<Bits>(bits >> 8);
  }
  out.append(bytes, sizeof(Bits));
}

template <typename Integer>
std::string Big(Integer value) {
  std::string out;
  AppendBig(value, out);
  return out;
}

int64_t MicrosSince2000(absl::Time time) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  if (time == absl::InfiniteFuture()) return std::numeric_limits<int64_t>::max();
  const int64_t micros = absl::ToUnixMicros(time);
  return micros < kLeast + kUnixMicrosOf2000 ? kLeast : micros - kUnixMicrosOf2000;
}

absl::string_view BytesOf(const Uuid& value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

// An empty array has no dimension, but must still name its element type.
std::string ArrayHeader(uint32_t element_oid, size_t size, bool has_nulls, size_t element_bytes) {
  std::string out;
  out.reserve(kArrayHeaderBytes + size * kLengthBytes + element_bytes);
  AppendBig<int32_t>(size == 0 ? 0 : 1, out);
  AppendBig<int32_t>(has_nulls ? 1 : 0, out);
  AppendBig(element_oid, out);
  if (size == 0) return out;
  AppendBig(static_cast<int32_t>(size), out);
  AppendBig<int32_t>(1, out);
  return out;
}

void AppendNull(std::string& out) { AppendBig<int32_t>(-1, out); }

void AppendBytes(absl::string_view bytes, std::string& out) {
  AppendBig(static_cast<int32_t>(bytes.size()), out);
  out.append(bytes.data(), bytes.size());
}

template <typename Integer>
std::string IntegerArray(uint32_t element_oid, absl::Span<const Integer> values) {
  std::string out = ArrayHeader(element_oid, values.size(), false, values.size() * sizeof(Integer));
  for (const Integer value : values) {
    AppendBig<int32_t>(sizeof(Integer), out);
    AppendBig(value, out);
  }
  return out;
}

std::string BytesArray(uint32_t element_oid, absl::Span<const absl::string_view> values) {
  size_t bytes = 0;
  for (const absl::string_view value : values) bytes += value.size();
  std::string out = ArrayHeader(element_oid, values.size(), false, bytes);
  for (const absl::string_view value : values) AppendBytes(value, out);
  return out;
}

template <typename Value>
bool HasNulls(absl::Span<const std::optional<Value>> values) {
  for (const std::optional<Value>& value : values) {
    if (!value.has_value()) return true;
  }
  return false;
}

template <typename Integer>
std::string OptionalIntegerArray(uint32_t element_oid,
                                 absl::Span<const std::optional<Integer>> values) {
  std::string out = ArrayHeader(element_oid, values.size(), HasNulls(values),
                                values.size() * sizeof(Integer));
  for (const std::optional<Integer>& value : values) {
    if (!value.has_value()) {
      AppendNull(out);
      continue;
    }
    AppendBig<int32_t>(sizeof(Integer), out);
    AppendBig(*value, out);
  }
  return out;
}

std::string OptionalBytesArray(uint32_t element_oid,
                               absl::Span<const std::optional<absl::string_view>> values) {
  size_t bytes = 0;
  for (const auto& value : values) bytes += value.value_or(absl::string_view()).size();
  std::string out = ArrayHeader(element_oid, values.size(), HasNulls(values), bytes);
  for (const auto& value : values) {
    value.has_value() ? AppendBytes(*value, out) : AppendNull(out);
  }
  return out;
}

}  // namespace

Params& Params::Bool(bool value) {
  values_.emplace_back(1, value ? '\1' : '\0');
  return *this;
}

Params& Params::Int2(int16_t value) {
  values_.push_back(Big(value));
  return *this;
}

Params& Params::Int4(int32_t value) {
  values_.push_back(Big(value));
  return *this;
}

Params& Params::Int8(int64_t value) {
  values_.push_back(Big(value));
  return *this;
}

Params& Params::Float8(double value) {
  values_.push_back(Big(std::bit_cast<uint64_t>(value)));
  return *this;
}

Params& Params::Text(absl::string_view value) {
  values_.emplace_back(value.data(), value.size());
  return *this;
}

Params& Params::Bytea(absl::string_view value) { return Text(value); }

Params& Params::UuidValue(const Uuid& value) { return Text(BytesOf(value)); }

Params& Params::Timestamp(absl::Time value) { return Int8(MicrosSince2000(value)); }

Params& Params::BoolArray(absl::Span<const bool> values) {
  std::string out = ArrayHeader(kBoolOid, values.size(), false, values.size());
  for (const bool value : values) AppendBytes(value ? "\1" : absl::string_view("\0", 1), out);
  values_.push_back(std::move(out));
  return *this;
}

Params& Params::Int2Array(absl::Span<const int16_t> values) {
  values_.push_back(IntegerArray(kInt2Oid, values));
  return *this;
}

Params& Params::Int4Array(absl::Span<const int32_t> values) {
  values_.push_back(IntegerArray(kInt4Oid, values));
  return *this;
}

Params& Params::Int8Array(absl::Span<const int64_t> values) {
  values_.push_back(IntegerArray(kInt8Oid, values));
  return *this;
}

Params& Params::TextArray(absl::Span<const absl::string_view> values) {
  values_.push_back(BytesArray(kTextOid, values));
  return *this;
}

Params& Params::OptionalTextArray(absl::Span<const std::optional<absl::string_view>> values) {
  values_.push_back(OptionalBytesArray(kTextOid, values));
  return *this;
}

Params& Params::OptionalByteaArray(absl::Span<const std::optional<absl::string_view>> values) {
  values_.push_back(OptionalBytesArray(kByteaOid, values));
  return *this;
}

Params& Params::OptionalInt2Array(absl::Span<const std::optional<int16_t>> values) {
  values_.push_back(OptionalIntegerArray(kInt2Oid, values));
  return *this;
}

Params& Params::OptionalInt4Array(absl::Span<const std::optional<int32_t>> values) {
  values_.push_back(OptionalIntegerArray(kInt4Oid, values));
  return *this;
}

Params& Params::OptionalInt8Array(absl::Span<const std::optional<int64_t>> values) {
  values_.push_back(OptionalIntegerArray(kInt8Oid, values));
  return *this;
}

Params& Params::ByteaArray(absl::Span<const absl::string_view> values) {
  values_.push_back(BytesArray(kByteaOid, values));
  return *this;
}

Params& Params::UuidArray(absl::Span<const Uuid> values) {
  std::string out = ArrayHeader(kUuidOid, values.size(), false, values.size() * sizeof(Uuid));
  for (const Uuid& value : values) AppendBytes(BytesOf(value), out);
  values_.push_back(std::move(out));
  return *this;
}

Params& Params::TidArray(absl::Span<const Tid> values) {
  constexpr size_t kTidBytes = 6;
  std::string out = ArrayHeader(kTidOid, values.size(), false, values.size() * kTidBytes);
  for (const Tid& value : values) {
    AppendBig<int32_t>(kTidBytes, out);
    AppendBig(value.block, out);
    AppendBig(value.offset, out);
  }
  values_.push_back(std::move(out));
  return *this;
}

Params& Params::TimestampArray(absl::Span<const std::optional<absl::Time>> values) {
  std::string out = ArrayHeader(kTimestamptzOid, values.size(), HasNulls(values),
                                values.size() * sizeof(int64_t));
  for (const std::optional<absl::Time>& value : values) {
    if (!value.has_value()) {
      AppendNull(out);
      continue;
    }
    AppendBig<int32_t>(sizeof(int64_t), out);
    AppendBig(MicrosSince2000(*value), out);
  }
  values_.push_back(std::move(out));
  return *this;
}

}  // namespace skiplane::pg
