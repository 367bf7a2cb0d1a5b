// What one message of a stream takes of the server until all of it is answered: it counts as a call
// and with its bytes, as the same request would as a call of its own.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "server/rpc/call/in_flight.h"
#include "server/rpc/call/shares.h"

namespace skiplane::rpc {

class MessageHold {
 public:
  // BROKER_DRAINING, TOO_MANY_CALLS or TOO_MANY_CALLS_OF_PRINCIPAL if there is no room.
  static absl::StatusOr<std::shared_ptr<MessageHold>> Take(InFlight& in_flight, const Party& party,
                                                           int64_t bytes, bool may_use_reserve);
  ~MessageHold() { in_flight_.End(holding_); }
  MessageHold(const MessageHold&) = delete;
  MessageHold& operator=(const MessageHold&) = delete;

 private:
  explicit MessageHold(InFlight& in_flight) : in_flight_(in_flight) {}

  InFlight& in_flight_;
  InFlight::Holding holding_;
};

}  // namespace skiplane::rpc
