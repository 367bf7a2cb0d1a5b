#include "server/base/reason.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"

namespace skiplane::base {
namespace {

constexpr absl::string_view kReasonUrl = "skiplane.dev/reason";
constexpr absl::string_view kFieldUrl = "skiplane.dev/field";
constexpr absl::string_view kDelayUrl = "skiplane.dev/retry-delay";

std::string Payload(const absl::Status& status, absl::string_view url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  return payload.has_value() ? std::string(*payload) : std::string();
}

// Of a refusal that is worded anew.
absl::Status WithDelayOf(const absl::Status& original, absl::Status status) {
  const absl::optional<absl::Cord> delay = original.GetPayload(kDelayUrl);
  if (delay.has_value()) status.SetPayload(kDelayUrl, *delay);
  return status;
}

}  // namespace

absl::Status Refuse(absl::StatusCode code, absl::string_view reason, absl::string_view message) {
  absl::Status status(code, message);
  status.SetPayload(kReasonUrl, absl::Cord(reason));
  return status;
}

absl::Status RefuseField(absl::StatusCode code, absl::string_view reason, absl::string_view field,
                         absl::string_view message) {
  absl::Status status = Refuse(code, reason, absl::StrCat(field, ": ", message));
  status.SetPayload(kFieldUrl, absl::Cord(field));
  return status;
}

absl::Status InvalidField(absl::string_view field, absl::string_view message) {
  return RefuseField(absl::StatusCode::kInvalidArgument, "INVALID_FIELD", field, message);
}

absl::Status PrefixField(absl::string_view prefix, const absl::Status& status) {
  return RenameField("", prefix, status);
}

absl::Status RenameField(absl::string_view prefix, absl::string_view new_prefix,
                         const absl::Status& status) {
  const std::string field = FieldOf(status);
  absl::string_view rest = field;
  if (field.empty() || !absl::ConsumePrefix(&rest, prefix)) return status;
  absl::string_view message = status.message();
  absl::ConsumePrefix(&message, absl::StrCat(field, ": "));
  return WithDelayOf(status, RefuseField(status.code(), ReasonOf(status),
                                         absl::StrCat(new_prefix, rest), message));
}

absl::Status BlameField(absl::string_view reason, absl::string_view field,
                        const absl::Status& status) {
  if (ReasonOf(status) != reason || !FieldOf(status).empty()) return status;
  return WithDelayOf(status, RefuseField(status.code(), reason, field, status.message()));
}

absl::Status WithRetryDelay(absl::Status status, absl::Duration delay) {
  status.SetPayload(kDelayUrl, absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(delay))));
  return status;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  int64_t nanoseconds = 0;
  if (!absl::SimpleAtoi(Payload(status, kDelayUrl), &nanoseconds)) return std::nullopt;
  return absl::Nanoseconds(nanoseconds);
}

std::string ReasonOf(const absl::Status& status) { return Payload(status, kReasonUrl); }

std::string FieldOf(const absl::Status& status) { return Payload(status, kFieldUrl); }

}  // namespace skiplane::base
