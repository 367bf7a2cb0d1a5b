// What protobuf's parser of JSON says, without the values that it quotes: those may be secret, and
// errors go to logs. Pure functions.
#pragma once

#include <google/protobuf/descriptor.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skiplane::http::connect {

// `said` of a body that CheckJson() found good. INVALID_ARGUMENT with reason INVALID_FIELD, and
// the field's path if that is told.
absl::Status JsonRefusal(absl::string_view said, const google::protobuf::Descriptor& type);

}  // namespace skiplane::http::connect
