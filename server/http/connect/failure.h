// Errors as Connect has them: a status of HTTP, and JSON with a code, a message and details.
// Pure functions.
#pragma once

#include <string>

#include <grpcpp/support/status.h>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/http/connect/codec.h"
#include "server/http/message.h"

namespace skiplane::http::connect {

// "invalid_argument".
absl::string_view CodeName(grpc::StatusCode code);

// The status that Connect's table gives a code.
int HttpStatusOf(grpc::StatusCode code);

// What the body of an answer is, or what ends a stream.
nlohmann::ordered_json ErrorJson(const grpc::Status& status);

// With the status of the table, unless `http_status` is given; what may be repeated soon says in
// Retry-After after how many seconds.
Response ErrorResponse(const grpc::Status& status, int http_status = 0);

// The end of a stream: `refusal` as its error, and the trailing metadata that a service would add.
nlohmann::ordered_json RefusalEnd(const absl::Status& refusal);

// The answer of a call that does not reach its service, with the same metadata.
Response RefusalResponse(const absl::Status& refusal, int http_status = 0);

// The same of a stream. Clients do not look for errors behind another status of HTTP than 200.
Response StreamRefusalResponse(const absl::Status& refusal, Form form);

std::string TextOf(const nlohmann::ordered_json& json);

}  // namespace skiplane::http::connect
