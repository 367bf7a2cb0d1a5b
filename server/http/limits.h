// What one connection of HTTP may take, and all of them together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/model/limits.h"

namespace skiplane::http {

struct Limits {
  const char* port = "http";  // what the metrics and the log call it
  int threads = 2;  // they move bytes and parse; one is not held up by the other's handshake
  int workers = 2;  // see Workers
  int connections = model::kConnectionsMax;
  int address_share = model::kAddressShare;  // percent of them, and of the bytes of bodies
  // A body of JSON has a third more bytes than what it stands for.
  size_t body_bytes = 2 * model::kRequestBytesMax;
  size_t head_bytes = 16 << 10;
  // What is sent ahead, while a request is being answered.
  size_t ahead_bytes = 16 << 10;
  // Of all connections together: see ByteBudget.
  int64_t bytes = 256 << 20;
  // A body of this size or less is not counted: as many as there may be connections are small.
  size_t free_body_bytes = 16 << 10;
  // A larger body is handled by a worker.
  size_t quick_body_bytes = 64 << 10;

  absl::Duration handshake = absl::Seconds(5);
  absl::Duration idle = absl::Minutes(2);    // between two requests
  absl::Duration head = absl::Seconds(10);   // from the first byte of a request
  absl::Duration body = absl::Seconds(30);
  absl::Duration write = absl::Seconds(30);  // in which the other end takes nothing
  absl::Duration linger = absl::Seconds(2);  // for the other end to take the last answer
};

// Says so to those for whom there is no room.
inline constexpr absl::string_view kNoRoom =
    "too many requests or too large ones are under way: repeat this one in a moment";
inline constexpr absl::string_view kNoRoomForAddress =
    "the bodies that callers at your address send at once are too large: repeat this one in a "
    "moment, and send fewer at a time";

}  // namespace skiplane::http
