#include "server/base/reason.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"

namespace skiplane::base {
namespace {

constexpr absl::string_view kReasonUrl = "skiplane.dev/reason";
constexpr absl::string_view kFieldUrl = "skiplane.dev/field";

std::string Payload(const absl::Status& status, absl::string_view url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  return payload.has_value() ? std::string(*payload) : std::string();
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
  const std::string field = FieldOf(status);
  if (field.empty()) return status;
  absl::string_view message = status.message();
  absl::ConsumePrefix(&message, absl::StrCat(field, ": "));
  return RefuseField(status.code(), ReasonOf(status), absl::StrCat(prefix, field), message);
}

absl::Status BlameField(absl::string_view reason, absl::string_view field,
                        const absl::Status& status) {
  if (ReasonOf(status) != reason || !FieldOf(status).empty()) return status;
  return RefuseField(status.code(), reason, field, status.message());
}

std::string ReasonOf(const absl::Status& status) { return Payload(status, kReasonUrl); }

std::string FieldOf(const absl::Status& status) { return Payload(status, kFieldUrl); }

}  // namespace skiplane::base
