#include "server/rpc/call/status.h"

#include <random>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/base/log.h"
#include "server/base/reason.h"
#include "server/rpc/call/text.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kDomain = "skiplane.dev";
constexpr absl::string_view kInternalError = "INTERNAL_ERROR";
constexpr size_t kReasonBytesMax = 63;  // the bound of ErrorInfo.reason

// When a repeat has a chance. Database failovers take seconds, a full broker drains in less.
absl::Duration RetryDelay(absl::string_view reason) {
  if (reason == "BROKER_DRAINING") return absl::Milliseconds(100);
  if (reason == "TOO_MANY_CALLS" || reason == "TOO_MANY_CALLS_OF_PRINCIPAL") {
    return absl::Milliseconds(250);
  }
  if (reason == "DATABASE_FULL") return absl::Seconds(30);
  return absl::Seconds(1);
}

bool MayRepeatSoon(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kResourceExhausted;
}

absl::Status HideDefect(const absl::Status& status) {
  std::random_device random;
  const std::string id = absl::StrFormat("%08x%08x", random(), random());
  base::Log(base::LogLevel::kError, "internal_error",
            {{"id", id},
             {"code", absl::StatusCodeToString(status.code())},
             {"message", std::string(status.message())}});
  return base::Refuse(absl::StatusCode::kInternal, kInternalError,
                      absl::StrCat("a defect of the broker; its log knows more under id ", id));
}

google::rpc::Status Details(const absl::Status& status, absl::string_view message) {
  const std::string reason(CutText(base::ReasonOf(status), kReasonBytesMax));
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(std::string(message));
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain(std::string(kDomain));
  details.add_details()->PackFrom(info);
  const std::string field = base::FieldOf(status);
  if (!field.empty()) {
    google::rpc::BadRequest request;
    google::rpc::BadRequest::FieldViolation* violation = request.add_field_violations();
    violation->set_field(std::string(CutText(field, kStatusFieldBytesMax)));
    violation->set_description(std::string(message));
    details.add_details()->PackFrom(request);
  }
  if (const auto delay = RetryHintOf(status)) {
    google::rpc::RetryInfo retry;
    WriteDuration(*delay, retry.mutable_retry_delay());
    details.add_details()->PackFrom(retry);
  }
  return details;
}

}  // namespace

std::optional<absl::Duration> RetryHintOf(const absl::Status& status) {
  if (!MayRepeatSoon(status.code())) return std::nullopt;
  return base::RetryDelayOf(status).value_or(RetryDelay(base::ReasonOf(status)));
}

absl::Status Shown(const absl::Status& status) {
  if (absl::IsCancelled(status)) return status;  // its caller has gone: nobody reads it
  const std::string reason = base::ReasonOf(status);
  // What a lower room says about a defect may quote a statement: it is for the log only.
  return reason.empty() || reason == kInternalError ? HideDefect(status) : status;
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const absl::Status shown = Shown(status);
  const absl::string_view message = CutText(shown.message(), kStatusMessageBytesMax);
  return {static_cast<grpc::StatusCode>(shown.code()), std::string(message),
          Details(shown, message).SerializeAsString()};
}

std::vector<std::pair<std::string, std::string>> TrailersOf(const absl::Status& status) {
  if (status.ok()) return {};
  const std::string reason = base::ReasonOf(status);
  std::vector<std::pair<std::string, std::string>> trailers;
  trailers.emplace_back("skiplane-reason",
                        reason.empty() ? kInternalError : CutText(reason, kReasonBytesMax));
  const std::string field = base::FieldOf(status);
  // A name in it may be the caller's; metadata takes printable ASCII only.
  const bool is_printable = absl::c_all_of(
      field, [](char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); });
  if (!field.empty() && is_printable) {
    trailers.emplace_back("skiplane-field", CutText(field, kStatusFieldBytesMax));
  }
  return trailers;
}

absl::Status InvalidLeaseToken(const Field& field) {
  return base::RefuseField(absl::StatusCode::kInvalidArgument, "INVALID_LEASE_TOKEN", field.Path(),
                           "must be the bytes that Lease returned to the same principal, "
                           "unchanged");
}

std::string CodeName(grpc::StatusCode code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

}  // namespace skiplane::rpc
