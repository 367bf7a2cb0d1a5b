// What stands for the request id of an Enqueue call in the table answered_request.
#pragma once

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace skiplane::model {

struct RequestKey {
  int64_t head = 0;                // LeadingInt64 of the id: ids that grow stay together
  std::array<uint8_t, 16> hash{};  // the first half of SHA-256 of lane and id
};

// The same as skiplane.request_hash and skiplane.leading_bigint make in the database.
RequestKey RequestKeyOf(int64_t lane, absl::string_view request_id);

// The first 8 bytes, the highest first; those that are missing count as 0.
int64_t LeadingInt64(absl::string_view bytes);

}  // namespace skiplane::model
