// Refusals as callers see them: absl::Status to grpc::Status with google.rpc details.
//
// Every status but OK carries an ErrorInfo; a refused field also a BadRequest; what may be repeated
// soon also a RetryInfo. A status without a reason is a defect: the caller gets INTERNAL with a
// random id, and the log repeats the id with the text. Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/rpc/call/field.h"

namespace skiplane::rpc {

inline constexpr size_t kStatusMessageBytesMax = 1024;
// gRPC turns a status whose trailer exceeds 8 KiB into RESOURCE_EXHAUSTED, and the cause is gone.
inline constexpr size_t kStatusDetailsBytesMax = 4096;

inline constexpr size_t kStatusFieldBytesMax = 512;

// What callers are shown of a refusal: of a defect only that it is one. `status` itself unless it
// is a defect.
absl::Status Shown(const absl::Status& status);

grpc::Status ToGrpc(const absl::Status& status);

// When a repeat has a chance; nothing if its reason says that.
std::optional<absl::Duration> RetryHintOf(const absl::Status& status);

// What a refusal adds to the trailing metadata, for callers that do not read details: the reason as
// "skiplane-reason", and the field that is to blame, if any, as "skiplane-field".
std::vector<std::pair<std::string, std::string>> TrailersOf(const absl::Status& status);

// INVALID_ARGUMENT with reason INVALID_LEASE_TOKEN that blames `field`.
absl::Status InvalidLeaseToken(const Field& field);

// gRPC's name of `code`, for example "INVALID_ARGUMENT".
std::string CodeName(grpc::StatusCode code);

}  // namespace skiplane::rpc
