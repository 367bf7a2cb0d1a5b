#include "server/http/connect/refusal.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/http/connect/call_fields.h"
#include "server/http/connect/content.h"
#include "server/http/connect/failure.h"

namespace skiplane::http::connect {
namespace {

// The other way round than Connect's table, which has no row for most of them.
absl::Status StatusOf(const Refusal& refusal) {
  const auto refuse = [&refusal](absl::StatusCode code, absl::string_view reason) {
    return base::Refuse(code, reason, refusal.message);
  };
  switch (refusal.http_status) {
    case 403: return refuse(absl::StatusCode::kPermissionDenied, "ORIGIN_NOT_ALLOWED");
    case 404:
    case 405:
    case 415:
    case 501: return refuse(absl::StatusCode::kUnimplemented, "NOT_SUPPORTED");
    case 408: return refuse(absl::StatusCode::kDeadlineExceeded, "REQUEST_TIMEOUT");
    case 413:
    case 431: return refuse(absl::StatusCode::kInvalidArgument, "REQUEST_TOO_LARGE");
    case 429: return refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS");
    default: return refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD");
  }
}

}  // namespace

absl::string_view NameOf(const Refusal& refusal) {
  switch (refusal.http_status) {
    case 403: return "site";
    case 404: return "path";
    case 405: return "method";
    case 408: return "timeout";
    case 413:
    case 431: return "size";
    case 415: return "content_type";
    case 429: return "no_room";
    case 501: return "encoding";
    default: return refusal.is_of_body ? kBodyRefused : "request";
  }
}

std::optional<Refusal> CheckCall(const google::protobuf::MethodDescriptor* method,
                                 const Head& head) {
  if (method == nullptr) return Refusal{404, "there is no such method or page"};
  if (method->client_streaming()) {
    return Refusal{404, "this stream is to be had by gRPC only: by HTTP make calls instead"};
  }
  if (head.method != "POST") {
    return Refusal{405, "a method is called by POST", {{"Allow", "POST"}}};
  }
  const bool is_stream = method->server_streaming();
  if (!FormOf(head, is_stream)) {
    const std::string types = TypesTaken(is_stream);
    return Refusal{415, absl::StrCat("Content-Type must be one of ", types),
                   {{"Accept-Post", types}}};
  }
  if (!EncodingNotTaken(head, is_stream).empty()) {
    const std::string taken = EncodingsTaken(is_stream);
    return Refusal{501, absl::StrCat("bodies are taken in these encodings only: ", taken),
                   {{is_stream ? "Connect-Accept-Encoding" : "Accept-Encoding", taken}}};
  }
  const absl::string_view version = head.Find("connect-protocol-version");
  if (head.Count("connect-protocol-version") > 1 || (!version.empty() && version != "1")) {
    return Refusal{400, "Connect-Protocol-Version must be 1"};
  }
  const auto timeout = TimeoutOf(head);
  if (!timeout.ok()) return Refusal{400, std::string(timeout.status().message())};
  return std::nullopt;
}

std::optional<Form> StreamFormOf(const google::protobuf::MethodDescriptor* method,
                                 const Head& head) {
  const bool is_stream = method != nullptr && method->server_streaming() && head.method == "POST";
  return is_stream ? FormOf(head, true) : std::nullopt;
}

Response AnswerOf(const Refusal& refusal, std::optional<Form> stream_form) {
  const absl::Status status = StatusOf(refusal);
  return With(stream_form ? StreamRefusalResponse(status, *stream_form)
                          : RefusalResponse(status, refusal.http_status),
              refusal.fields);
}

}  // namespace skiplane::http::connect
