#include "server/rpc/call/wire_time.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace skiplane::rpc {
namespace {

constexpr int32_t kNanosMax = 999999999;
constexpr int64_t kDurationSecondsMax = 315576000000;  // protobuf's own bound: 10,000 years
constexpr int64_t kYear1 = -62135596800;               // 0001-01-01T00:00:00Z
constexpr int64_t kYear9999End = 253402300799;         // 9999-12-31T23:59:59Z

bool IsValid(const google::protobuf::Duration& wire) {
  if (wire.nanos() < -kNanosMax || wire.nanos() > kNanosMax) return false;
  if (wire.seconds() < -kDurationSecondsMax || wire.seconds() > kDurationSecondsMax) return false;
  const bool mixed_signs = (wire.seconds() > 0 && wire.nanos() < 0) ||
                           (wire.seconds() < 0 && wire.nanos() > 0);
  return !mixed_signs;
}

bool IsValid(const google::protobuf::Timestamp& wire) {
  return wire.nanos() >= 0 && wire.nanos() <= kNanosMax && wire.seconds() >= kYear1 &&
         wire.seconds() <= kYear9999End;
}

}  // namespace

absl::StatusOr<absl::Duration> ReadDuration(const google::protobuf::Duration& wire,
                                            DurationRange range, const Field& field) {
  if (!IsValid(wire)) {
    return InvalidField(field, "is no duration: nanos beyond a second or signs that differ");
  }
  const absl::Duration value = absl::Seconds(wire.seconds()) + absl::Nanoseconds(wire.nanos());
  if (value < range.least || value > range.most) {
    return InvalidField(field, absl::StrCat("is ", absl::FormatDuration(value), "; must be ",
                                            absl::FormatDuration(range.least), " to ",
                                            absl::FormatDuration(range.most)));
  }
  return value;
}

absl::StatusOr<absl::Time> ReadTime(const google::protobuf::Timestamp& wire, const Field& field) {
  if (!IsValid(wire)) {
    return InvalidField(field, "is no time: nanos beyond a second or a year outside 1 to 9999");
  }
  return absl::FromUnixSeconds(wire.seconds()) + absl::Nanoseconds(wire.nanos());
}

void WriteDuration(absl::Duration value, google::protobuf::Duration* wire) {
  absl::Duration rest;
  wire->set_seconds(absl::IDivDuration(value, absl::Seconds(1), &rest));
  wire->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
}

void WriteTime(absl::Time value, google::protobuf::Timestamp* wire) {
  const int64_t seconds = absl::ToUnixSeconds(value);
  wire->set_seconds(seconds);
  const absl::Duration rest = value - absl::FromUnixSeconds(seconds);
  wire->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
}

}  // namespace skiplane::rpc
