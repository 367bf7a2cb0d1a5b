// Between absl's times and protobuf's.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include "absl/time/time.h"

namespace skiplane::internal {

// Bounds are the broker's to check: those of protobuf, about 10,000 years, are wider.
void ToProto(absl::Duration duration, google::protobuf::Duration* proto);
void ToProto(absl::Time time, google::protobuf::Timestamp* proto);

absl::Duration FromProto(const google::protobuf::Duration& proto);
absl::Time FromProto(const google::protobuf::Timestamp& proto);

}  // namespace skiplane::internal
