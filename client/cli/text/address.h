// The addresses of brokers as people write them.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace skiplane::cli {

// "broker", "broker:7070", "10.0.0.1", "[::1]" or "::1", several separated by commas. One without a
// port gets the broker's usual one, 7070. What has a scheme, as "dns:///broker:1", stays as it is.
std::vector<std::string> ParseAddresses(absl::string_view text);

}  // namespace skiplane::cli
