// Bodies in fewer bytes.
#pragma once

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/http/message.h"

namespace skiplane::http {

bool TakesGzip(const Head& head);

// Empty if there is no memory for it.
std::string Gzip(const std::string& text);

// Compresses the body for who takes that.
void Pack(const Head& head, Response* response);

// The reverse of Gzip, which takes memory for no more than `max` bytes: OUT_OF_RANGE if there are
// more. INVALID_ARGUMENT if `packed` is not one whole member of gzip. `has_room` is asked before
// memory is taken, for how many bytes in all, and ends it: RESOURCE_EXHAUSTED.
absl::StatusOr<std::string> Gunzip(absl::string_view packed, size_t max,
                                   absl::FunctionRef<bool(size_t bytes)> has_room);

}  // namespace skiplane::http
