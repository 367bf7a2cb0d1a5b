// Fields of the API's messages by their names, as text: what tables show and what options and
// columns set, so that a field is added in one place, the .proto file.
//
// A path has dots: "retry.kind", "counts.ready_count", "headers.traceparent". Enumerations are
// words ("lease-lost"), durations and times as in duration.h and instant.h.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/cli/text/table.h"

namespace skiplane::cli {

// Empty for a field that is unset. The path must be one of the message's.
std::string FieldText(const google::protobuf::Message& message, absl::string_view path);

// What rows are sorted by: numbers, times and durations by their size, all else by its text. Unset
// is least.
std::pair<double, std::string> FieldRank(const google::protobuf::Message& message,
                                         absl::string_view path);

// Sets the field to what `text` says; entries of a repeated one are separated by commas. A usage
// error says what is wrong with the text, or that there is no such field.
absl::Status SetField(google::protobuf::Message& message, absl::string_view path,
                      absl::string_view text);

// All fields that have a value, one row each, nested ones with their path; lists of messages are
// left out.
Table Facts(const google::protobuf::Message& message);

// On one line, with the names of the .proto files; bytes in base64.
std::string ToJson(const google::protobuf::Message& message);

}  // namespace skiplane::cli
