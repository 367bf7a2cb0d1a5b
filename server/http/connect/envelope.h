// Messages of a stream: a byte of flags, four of length, the message. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::http::connect {

inline constexpr uint8_t kPlain = 0;
inline constexpr uint8_t kEndOfStream = 2;

std::string Envelope(uint8_t flags, absl::string_view message);

// The one message that `body` is to hold. INVALID_ARGUMENT with reason INVALID_FIELD if it does
// not; UNIMPLEMENTED with reason NOT_SUPPORTED if it is compressed.
absl::StatusOr<std::string> OpenOnlyEnvelope(absl::string_view body);

}  // namespace skiplane::http::connect
