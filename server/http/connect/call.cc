#include "server/http/connect/call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/reason.h"
#include "server/http/connect/call_fields.h"
#include "server/http/gzip.h"

namespace skiplane::http::connect {
namespace {

// A smaller body would take more time and hardly fewer packets.
constexpr size_t kPackedBytesMin = 1 << 10;

}  // namespace

std::string Call::Path() const {
  return absl::StrCat("/", method->service()->full_name(), "/", method->name());
}

void Call::Prepare(grpc::ClientContext* context) const {
  if (timeout) context->set_deadline(absl::ToChronoTime(absl::Now() + *timeout));
  WriteMetadata(request.head, request.caller, context);
}

void Call::Answer(Response response) const {
  const bool is_large = response.body.size() >= kPackedBytesMin;
  if (response.status == 200 && !method->server_streaming() && is_large) {
    Pack(request.head, &response);
  }
  exchange->Answer(With(std::move(response), answer_fields));
}

void Call::RefuseBody(Response response) const {
  body_refused();
  Answer(std::move(response));
}

absl::Status CutOffBy(const grpc::Status& status) {
  const bool is_cut_off = status.error_details().empty() &&
                          (status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                           status.error_code() == grpc::StatusCode::CANCELLED);
  if (!is_cut_off) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kUnavailable, "BROKER_DRAINING",
                      "this broker is shutting down; the call was cut off");
}

}  // namespace skiplane::http::connect
