// How a request says what its body is. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "server/http/connect/codec.h"
#include "server/http/message.h"

namespace skiplane::http::connect {

// By Content-Type, which differs for methods that answer with a stream; nothing if it is another.
std::optional<Form> FormOf(const Head& head, bool is_stream);

// The type of what a stream answers in `form`.
std::string StreamType(Form form);

// The types that are taken, for those who sent another.
std::string TypesTaken(bool is_stream);

// The name of an encoding of the body that is not taken, "several" of more than one field; empty if
// there is none.
std::string EncodingNotTaken(const Head& head, bool is_stream);
std::string EncodingsTaken(bool is_stream);

// Whether the body of a unary call is compressed.
bool IsGzip(const Head& head);

}  // namespace skiplane::http::connect
