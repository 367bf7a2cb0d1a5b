// Values of the API's enumerations as words: TASK_STATE_READY is "ready".
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::cli {

// Empty for the value that means "unset".
std::string EnumWord(const google::protobuf::EnumValueDescriptor& value);

std::vector<std::string> EnumWords(const google::protobuf::EnumDescriptor& type);

// A usage error names the words that there are.
absl::StatusOr<int> ParseEnumWord(const google::protobuf::EnumDescriptor& type,
                                  absl::string_view word);

}  // namespace skiplane::cli
