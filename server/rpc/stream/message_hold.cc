#include "server/rpc/stream/message_hold.h"

#include "server/rpc/call/no_room.h"

namespace skiplane::rpc {

absl::StatusOr<std::shared_ptr<MessageHold>> MessageHold::Take(InFlight& in_flight,
                                                               const Party& party, int64_t bytes,
                                                               bool may_use_reserve) {
  if (!in_flight.Begin()) return BrokerIsDraining();
  std::shared_ptr<MessageHold> hold(new MessageHold(in_flight));
  const InFlight::Room room = in_flight.Hold(party, bytes, may_use_reserve, &hold->holding_);
  if (room != InFlight::Room::kGranted) return NoRoom(party, room, in_flight);
  return hold;
}

}  // namespace skiplane::rpc
