#include "client/src/status.h"

#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "client/src/convert_time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "skiplane/error.h"

namespace skiplane {
namespace {

constexpr absl::string_view kReasonPayload = "skiplane.dev/reason";
constexpr absl::string_view kFieldPayload = "skiplane.dev/field";
constexpr absl::string_view kDelayPayload = "skiplane.dev/retry-delay";

std::string Payload(const absl::Status& status, absl::string_view url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  return payload.has_value() ? std::string(*payload) : std::string();
}

// The codes that calls have which are refused for these reasons; for all others INVALID_ARGUMENT.
constexpr std::pair<absl::string_view, absl::StatusCode> kCodes[] = {
    {"QUEUE_NOT_FOUND", absl::StatusCode::kNotFound},
    {"QUEUE_PAUSED", absl::StatusCode::kFailedPrecondition},
    {"QUEUE_DELETING", absl::StatusCode::kFailedPrecondition},
    {"ACCESS_DENIED", absl::StatusCode::kPermissionDenied},
    {"TOO_MANY_QUEUES", absl::StatusCode::kResourceExhausted},
    {"TOO_MANY_CALLS", absl::StatusCode::kResourceExhausted},
    {"QUEUE_FULL", absl::StatusCode::kResourceExhausted},
    {"ENQUEUE_RATE_EXCEEDED", absl::StatusCode::kResourceExhausted},
    {"TOO_MANY_NEW_QUEUES", absl::StatusCode::kResourceExhausted},
    {"TOO_MANY_CALLS_OF_PRINCIPAL", absl::StatusCode::kResourceExhausted},
    {"TOO_MANY_WAITING_CALLS", absl::StatusCode::kResourceExhausted},
    {"TOO_MANY_WORKERS", absl::StatusCode::kResourceExhausted},
    {"DATABASE_FULL", absl::StatusCode::kResourceExhausted},
    {"BROKER_DRAINING", absl::StatusCode::kUnavailable},
    {"DATABASE_UNAVAILABLE", absl::StatusCode::kUnavailable},
    {"DATABASE_READ_ONLY", absl::StatusCode::kUnavailable},
    {"SYNCHRONOUS_STANDBY_AWAY", absl::StatusCode::kUnavailable},
    {"STATEMENT_TIMEOUT", absl::StatusCode::kDeadlineExceeded},
    {"TRANSACTION_CONFLICT", absl::StatusCode::kAborted},
    {"DATABASE_PERMISSION_DENIED", absl::StatusCode::kFailedPrecondition},
    {"DATABASE_NOT_DURABLE", absl::StatusCode::kFailedPrecondition},
    {"DATABASE_DISTRIBUTED", absl::StatusCode::kFailedPrecondition},
    {"POOLER_NOT_SUPPORTED", absl::StatusCode::kFailedPrecondition},
    {"INTERNAL_ERROR", absl::StatusCode::kInternal},
};

absl::StatusCode CodeOf(absl::string_view reason) {
  for (const auto& [known, code] : kCodes) {
    if (reason == known) return code;
  }
  return absl::StatusCode::kInvalidArgument;
}

void AddDetails(const std::string& bytes, absl::Status& status) {
  google::rpc::Status rich;
  if (bytes.empty() || !rich.ParseFromString(bytes)) return;
  for (const google::protobuf::Any& detail : rich.details()) {
    google::rpc::ErrorInfo error;
    google::rpc::BadRequest bad_request;
    google::rpc::RetryInfo retry;
    if (detail.UnpackTo(&error)) {
      status.SetPayload(kReasonPayload, absl::Cord(error.reason()));
    } else if (detail.UnpackTo(&bad_request) && bad_request.field_violations_size() > 0) {
      status.SetPayload(kFieldPayload, absl::Cord(bad_request.field_violations(0).field()));
    } else if (detail.UnpackTo(&retry)) {
      status.SetPayload(kDelayPayload, absl::Cord(retry.retry_delay().SerializeAsString()));
    }
  }
}

}  // namespace

std::string ErrorReason(const absl::Status& status) { return Payload(status, kReasonPayload); }

std::string ErrorField(const absl::Status& status) { return Payload(status, kFieldPayload); }

std::optional<absl::Duration> RetryDelay(const absl::Status& status) {
  google::protobuf::Duration delay;
  const absl::optional<absl::Cord> payload = status.GetPayload(kDelayPayload);
  if (!payload.has_value() || !delay.ParseFromString(std::string(*payload))) return std::nullopt;
  return internal::FromProto(delay);
}

namespace internal {

absl::Status FromProto(const v1::Refusal& refusal) {
  // The two enumerations share gRPC's canonical numbers. Parts of calls are refused without one.
  const auto code = refusal.code() == 0 ? CodeOf(refusal.reason())
                                        : static_cast<absl::StatusCode>(refusal.code());
  absl::Status status(code, refusal.message());
  status.SetPayload(kReasonPayload, absl::Cord(refusal.reason()));
  if (!refusal.field().empty()) status.SetPayload(kFieldPayload, absl::Cord(refusal.field()));
  if (refusal.has_retry_delay()) {
    status.SetPayload(kDelayPayload, absl::Cord(refusal.retry_delay().SerializeAsString()));
  }
  return status;
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  // The two enumerations share gRPC's canonical numbers.
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  AddDetails(status.error_details(), result);
  return result;
}

bool MayPass(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) return RetryDelay(status).has_value();
  return absl::IsUnavailable(status);
}

}  // namespace internal
}  // namespace skiplane
