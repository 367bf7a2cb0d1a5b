// Whose share of a server a call takes, and what its caller is told when there is no room for it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/access/principal.h"
#include "server/rpc/call/in_flight.h"

namespace skiplane::rpc {

// The principal; the connection, by its caller's address and port, where nobody proves who it is.
// Refers to both.
Party PartyOf(const access::Principal& principal, const std::string& address);

// The principal's name; empty where nobody has to prove anything.
std::string ProvenNameOf(const access::Principal& principal);

// TOO_MANY_CALLS_OF_PRINCIPAL, or TOO_MANY_CALLS of a connection or of the broker. `room`: anything
// but kGranted.
absl::Status NoRoom(const Party& party, InFlight::Room room, const InFlight& in_flight);

// BROKER_DRAINING: it came too late.
absl::Status BrokerIsDraining();
absl::Status StreamEndsByDrain();  // of one that has begun

// TOO_MANY_WAITING_CALLS, or TOO_MANY_CALLS_OF_PRINCIPAL.
absl::Status NoPlaceToWait(const access::Principal& principal, InFlight::Parking parking,
                           const InFlight& in_flight, InFlight::WaitFor what);

}  // namespace skiplane::rpc
