#include "server/http/connect/failure.h"

#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/http/connect/content.h"
#include "server/http/connect/envelope.h"
#include "server/rpc/call/status.h"

namespace skiplane::http::connect {
namespace {

struct Row {
  absl::string_view name;
  int http_status;
};

// By the number of the code.
constexpr std::array<Row, 17> kRows = {{{"", 200},
                                        {"canceled", 499},
                                        {"unknown", 500},
                                        {"invalid_argument", 400},
                                        {"deadline_exceeded", 504},
                                        {"not_found", 404},
                                        {"already_exists", 409},
                                        {"permission_denied", 403},
                                        {"resource_exhausted", 429},
                                        {"failed_precondition", 400},
                                        {"aborted", 409},
                                        {"out_of_range", 400},
                                        {"unimplemented", 501},
                                        {"internal", 500},
                                        {"unavailable", 503},
                                        {"data_loss", 500},
                                        {"unauthenticated", 401}}};

const Row& RowOf(grpc::StatusCode code) {
  const auto number = static_cast<size_t>(code);
  constexpr size_t kUnknown = 2;
  return kRows[number < kRows.size() ? number : kUnknown];
}

// As a person reads it; null if the type is not known here.
nlohmann::ordered_json Readable(const std::string& type, const std::string& bytes) {
  const auto* const known =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  if (known == nullptr) return nullptr;
  const auto text = FromBytes(bytes, Form::kJson, *known);
  return text.ok() ? nlohmann::ordered_json::parse(*text, nullptr, false) : nullptr;
}

nlohmann::ordered_json DetailJson(const google::protobuf::Any& detail) {
  const std::string type = detail.type_url().substr(detail.type_url().rfind('/') + 1);
  std::string value = absl::Base64Escape(detail.value());
  value.resize(absl::string_view(value).find_last_not_of('=') + 1);  // Connect wants no padding
  nlohmann::ordered_json json = {{"type", type}, {"value", value}};
  if (nlohmann::ordered_json readable = Readable(type, detail.value()); !readable.is_null()) {
    json["debug"] = std::move(readable);
  }
  return json;
}

absl::Duration RetryDelayOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return absl::ZeroDuration();
  google::rpc::RetryInfo retry;
  for (const google::protobuf::Any& detail : details.details()) {
    if (!detail.UnpackTo(&retry)) continue;
    return absl::Seconds(retry.retry_delay().seconds()) +
           absl::Nanoseconds(retry.retry_delay().nanos());
  }
  return absl::ZeroDuration();
}

}  // namespace

absl::string_view CodeName(grpc::StatusCode code) { return RowOf(code).name; }

int HttpStatusOf(grpc::StatusCode code) { return RowOf(code).http_status; }

nlohmann::ordered_json ErrorJson(const grpc::Status& status) {
  nlohmann::ordered_json json = {{"code", std::string(CodeName(status.error_code()))},
                                 {"message", status.error_message()}};
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return json;
  for (const google::protobuf::Any& detail : details.details()) {
    json["details"].push_back(DetailJson(detail));
  }
  return json;
}

Response ErrorResponse(const grpc::Status& status, int http_status) {
  Response response = {http_status == 0 ? HttpStatusOf(status.error_code()) : http_status,
                       "application/json", TextOf(ErrorJson(status))};
  // HTTP wants it with this code, and some clients do.
  if (response.status == 401) response.fields.emplace_back("WWW-Authenticate", "Bearer");
  const absl::Duration delay = RetryDelayOf(status);
  if (delay > absl::ZeroDuration()) {
    const absl::Duration whole = absl::Ceil(delay, absl::Seconds(1));
    response.fields.emplace_back("Retry-After", absl::StrCat(absl::ToInt64Seconds(whole)));
  }
  return response;
}

nlohmann::ordered_json RefusalEnd(const absl::Status& refusal) {
  nlohmann::ordered_json end = {{"error", ErrorJson(rpc::ToGrpc(refusal))}};
  for (auto& [name, value] : rpc::TrailersOf(refusal)) {
    end["metadata"][name].push_back(std::move(value));
  }
  return end;
}

Response RefusalResponse(const absl::Status& refusal, int http_status) {
  Response response = ErrorResponse(rpc::ToGrpc(refusal), http_status);
  for (auto& [name, value] : rpc::TrailersOf(refusal)) {
    response.fields.emplace_back(absl::StrCat("trailer-", name), std::move(value));
  }
  return response;
}

Response StreamRefusalResponse(const absl::Status& refusal, Form form) {
  return {200, StreamType(form), Envelope(kEndOfStream, TextOf(RefusalEnd(refusal)))};
}

std::string TextOf(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace skiplane::http::connect
