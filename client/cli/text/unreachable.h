// Why no broker was reached, in words that say what to do: gRPC names the last of its tries.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::cli {

// `message` of a call that failed; one that is not about the connection is returned as it is.
std::string TellUnreachable(absl::string_view message);

}  // namespace skiplane::cli
