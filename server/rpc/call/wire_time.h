// Times and durations between protobuf and absl. Reading refuses what protobuf calls invalid (nanos
// out of range, mixed signs, years outside 1 to 9999) and what is outside the field's range.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/rpc/call/field.h"

namespace skiplane::rpc {

struct DurationRange {
  absl::Duration least;
  absl::Duration most;
};

absl::StatusOr<absl::Duration> ReadDuration(const google::protobuf::Duration& wire,
                                            DurationRange range, const Field& field);
absl::StatusOr<absl::Time> ReadTime(const google::protobuf::Timestamp& wire, const Field& field);

// The values must be finite.
void WriteDuration(absl::Duration value, google::protobuf::Duration* wire);
void WriteTime(absl::Time value, google::protobuf::Timestamp* wire);

}  // namespace skiplane::rpc
