// Requests that the HTTP port refuses by itself, before a service sees them. Pure functions.
#pragma once

#include <google/protobuf/descriptor.h>

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/http/connect/codec.h"
#include "server/http/message.h"

namespace skiplane::http::connect {

struct Refusal {
  int http_status;  // of HTTP itself; the code and the reason follow from it
  std::string message;
  Fields fields{};  // further ones of the answer
  bool is_of_body = false;  // which is not what it should be
};

// What the metrics call it: one of few words.
absl::string_view NameOf(const Refusal& refusal);
inline constexpr absl::string_view kBodyRefused = "body";  // of those that are no such message

// What is wrong with the head of a call of `method`, which is null if there is none of that name.
std::optional<Refusal> CheckCall(const google::protobuf::MethodDescriptor* method,
                                 const Head& head);

// The form in which the caller of a stream reads errors; nothing if it has called none, or in no
// form of streams: then errors are those of a unary call.
std::optional<Form> StreamFormOf(const google::protobuf::MethodDescriptor* method,
                                 const Head& head);

// As its caller can read it: in a stream errors come behind a status of 200.
Response AnswerOf(const Refusal& refusal, std::optional<Form> stream_form);

}  // namespace skiplane::http::connect
