// The bounds of credentials and rules. What an operator writes is bounded so that a reload takes
// milliseconds; what callers send, so that a refusal costs them more than it costs the broker.
#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace skiplane::access {

inline constexpr size_t kPrincipalNameBytesMax = 255;  // of an actor in the audit, too
inline constexpr size_t kGroupNameBytesMax = 128;
inline constexpr size_t kGroupsPerPrincipalMax = 256;

inline constexpr size_t kTokenFileBytesMax = 4 << 20;
inline constexpr size_t kTokensMax = 10000;

inline constexpr size_t kBearerBytesMax = 8 << 10;  // half of what HTTP takes as a header
inline constexpr absl::Duration kJwtLeeway = absl::Seconds(60);  // clocks differ
inline constexpr size_t kJwtsRememberedMax = 10000;  // a few megabytes

inline constexpr size_t kRulesBytesMax = 1 << 20;
inline constexpr size_t kRulesMax = 10000;  // and groups
inline constexpr size_t kQueuePatternsMax = 20000;  // of all rules together

}  // namespace skiplane::access
