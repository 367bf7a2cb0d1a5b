// Requests that the HTTP port refuses by itself, before a service sees them. Pure functions.
#pragma once

#include <google/protobuf/descriptor.h>

#include <optional>
#include <string>

#include "server/http/connect/codec.h"
#include "server/http/message.h"

namespace skiplane::http::connect {

struct Refusal {
  int http_status;  // of HTTP itself; the code and the reason follow from it
  std::string message;
  Fields fields{};  // further ones of the answer
};

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
