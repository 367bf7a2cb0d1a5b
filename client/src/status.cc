#include "client/src/status.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "skiplane/error.h"

namespace skiplane {
namespace {

constexpr absl::string_view kReasonPayload = "skiplane.dev/reason";
constexpr absl::string_view kFieldPayload = "skiplane.dev/field";

std::string Payload(const absl::Status& status, absl::string_view url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  return payload.has_value() ? std::string(*payload) : std::string();
}

// The code that a call has which is refused for the same reason.
absl::StatusCode CodeOf(absl::string_view reason) {
  if (reason == "QUEUE_NOT_FOUND") return absl::StatusCode::kNotFound;
  if (reason == "QUEUE_PAUSED") return absl::StatusCode::kFailedPrecondition;
  if (reason == "TOO_MANY_QUEUES") return absl::StatusCode::kResourceExhausted;
  return absl::StatusCode::kInvalidArgument;
}

void AddDetails(const std::string& bytes, absl::Status& status) {
  google::rpc::Status rich;
  if (bytes.empty() || !rich.ParseFromString(bytes)) return;
  for (const google::protobuf::Any& detail : rich.details()) {
    google::rpc::ErrorInfo error;
    google::rpc::BadRequest bad_request;
    if (detail.UnpackTo(&error)) {
      status.SetPayload(kReasonPayload, absl::Cord(error.reason()));
    } else if (detail.UnpackTo(&bad_request) && bad_request.field_violations_size() > 0) {
      status.SetPayload(kFieldPayload, absl::Cord(bad_request.field_violations(0).field()));
    }
  }
}

}  // namespace

std::string ErrorReason(const absl::Status& status) { return Payload(status, kReasonPayload); }

std::string ErrorField(const absl::Status& status) { return Payload(status, kFieldPayload); }

namespace internal {

absl::Status FromProto(const v1::ItemError& error) {
  absl::Status status(CodeOf(error.reason()), error.message());
  status.SetPayload(kReasonPayload, absl::Cord(error.reason()));
  if (!error.field().empty()) status.SetPayload(kFieldPayload, absl::Cord(error.field()));
  return status;
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  // The two enumerations share gRPC's canonical numbers.
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  AddDetails(status.error_details(), result);
  return result;
}

}  // namespace internal
}  // namespace skiplane
