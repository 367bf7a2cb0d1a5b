// Messages between their two forms: JSON, as protobuf defines it, and bytes. From the descriptions
// that are linked into the process, so that no message needs code here. Pure functions.
#pragma once

#include <string>

#include <google/protobuf/descriptor.h>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::http::connect {

enum class Form { kProto, kJson };

// The bytes of a message of `type` in `form`. INVALID_ARGUMENT with reason INVALID_FIELD, saying
// where, if the JSON is none, or none of this type: a field that is not known is an error. What is
// said holds no value of the body.
absl::StatusOr<std::string> ToBytes(std::string body, Form form,
                                    const google::protobuf::Descriptor& type);

// The reverse. INTERNAL if the bytes are no such message.
absl::StatusOr<std::string> FromBytes(std::string bytes, Form form,
                                      const google::protobuf::Descriptor& type);

}  // namespace skiplane::http::connect
