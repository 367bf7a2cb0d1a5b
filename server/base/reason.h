// A refusal with a stable reason: an absl::Status that carries the name of a
// skiplane.v1.ErrorReason (without prefix) and, where one is to blame, the path of the field.
//
// The rooms below rpc make refusals with Refuse(); rpc reads them with ReasonOf() and FieldOf() and
// turns them into google.rpc.ErrorInfo and BadRequest. A status without a reason is a defect and
// reaches callers as INTERNAL. Messages say what to do; they never hold payloads or secrets.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::base {

absl::Status Refuse(absl::StatusCode code, absl::string_view reason, absl::string_view message);

// The same, blaming a field: a path as in "tasks[3].priority", which the message begins with.
absl::Status RefuseField(absl::StatusCode code, absl::string_view reason, absl::string_view field,
                         absl::string_view message);

// INVALID_ARGUMENT with reason INVALID_FIELD.
absl::Status InvalidField(absl::string_view field, absl::string_view message);

// The same refusal with `prefix` before the field that it blames, if it blames one.
absl::Status PrefixField(absl::string_view prefix, const absl::Status& status);

// The same refusal with `new_prefix` instead of `prefix` before that field, if it begins so.
absl::Status RenameField(absl::string_view prefix, absl::string_view new_prefix,
                         const absl::Status& status);

// The same refusal, blaming `field`, if it has `reason` and blames no field yet.
absl::Status BlameField(absl::string_view reason, absl::string_view field,
                        const absl::Status& status);

// The same refusal, with a hint when a repeat has a chance; else its reason says that.
absl::Status WithRetryDelay(absl::Status status, absl::Duration delay);

// The hint of `status`, if it has one.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

// The reason of `status`; empty if it has none.
std::string ReasonOf(const absl::Status& status);

// The field that `status` blames; empty if none.
std::string FieldOf(const absl::Status& status);

}  // namespace skiplane::base
