// Whether a text is JSON as RFC 8259 has it, and has the shape of a message as protobuf's mapping
// of JSON defines it. Protobuf's own parser takes far more, and drops some of it without a word: a
// null among the elements of a list, a key of a map whose value is null. What works with it by
// accident would break with the next version. Pure functions.
//
// Says nothing of values: whether a text is base64, or a number fits. Protobuf's parser does.
#pragma once

#include <google/protobuf/descriptor.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::http::connect {

// INVALID_ARGUMENT with reason INVALID_FIELD and the field's path, if there is one to blame. Holds
// no value of the text. Takes time in proportion to the text, and memory by its depth only.
absl::Status CheckJson(absl::string_view text, const google::protobuf::Descriptor& type);

}  // namespace skiplane::http::connect
