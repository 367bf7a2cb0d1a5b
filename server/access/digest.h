// SHA-256: what is kept of a secret, and what a presented one is looked up by.
#pragma once

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace skiplane::access {

using Digest = std::array<uint8_t, 32>;

Digest Sha256(absl::string_view text);

}  // namespace skiplane::access
