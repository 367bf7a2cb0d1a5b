#include "server/rpc/call/no_room.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/rare_event.h"
#include "server/base/reason.h"
#include "server/broker/api/refusals.h"

namespace skiplane::rpc {
namespace {

// A call that waits may do so for a minute.
constexpr absl::Duration kUntilPlaceIsFree = absl::Seconds(1);

// What a principal has as much of as it may. `has` reads on from its name.
struct Reached {
  absl::string_view limit;
  absl::string_view has;
  int64_t share;  // percent
};

absl::Status PrincipalIsAtLimit(absl::string_view principal, const Reached& reached,
                                absl::string_view instead) {
  static constinit base::RareEvent limited("principal_limited");
  if (limited.Wanted()) {
    limited.Write(base::LogLevel::kWarn,
                  {{"principal", std::string(principal)},
                   {"limit", std::string(reached.limit)},
                   {"principal_share", absl::StrCat(reached.share)}});
  }
  return base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS_OF_PRINCIPAL",
                      absl::StrCat("`", principal, "` ", reached.has,
                                   " in this broker as one principal may have, ", reached.share,
                                   " % of the limit (--principal-share); nothing was changed: ",
                                   instead));
}

}  // namespace

Party PartyOf(const access::Principal& principal, const std::string& address) {
  if (principal.name != access::kAnonymous) return {principal.name, true};
  return {address, false};
}

std::string ProvenNameOf(const access::Principal& principal) {
  return principal.name == access::kAnonymous ? "" : principal.name;
}

absl::Status BrokerIsDraining() {
  return base::Refuse(absl::StatusCode::kUnavailable, "BROKER_DRAINING",
                      "this broker is shutting down; nothing was changed");
}

absl::Status StreamEndsByDrain() {
  return base::Refuse(absl::StatusCode::kUnavailable, "BROKER_DRAINING",
                      "this broker is shutting down; what was not answered was not done: go on at "
                      "another one");
}

absl::Status NoRoom(const Party& party, InFlight::Room room, const InFlight& in_flight) {
  if (room == InFlight::Room::kBrokerIsFull) {
    return base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS",
                        "too many calls or too large ones are under way in this broker; nothing "
                        "was changed: retry later");
  }
  const bool has_calls = room == InFlight::Room::kPartyHasTooManyCalls;
  const absl::string_view instead = has_calls
                                        ? "wait for answers before you call again"
                                        : "wait for answers, or send smaller requests";
  if (party.is_principal) {
    return PrincipalIsAtLimit(party.name,
                              {has_calls ? "calls" : "bytes",
                               has_calls ? "has as many calls under way"
                                         : "has requests and answers of as many bytes under way",
                               in_flight.limits().principal_share},
                              instead);
  }
  return base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS",
                      absl::StrCat("too many calls or too large ones are under way on this "
                                   "connection; nothing was changed: ",
                                   instead));
}

absl::Status NoPlaceToWait(const access::Principal& principal, InFlight::Parking parking,
                           const InFlight& in_flight, InFlight::WaitFor what) {
  const bool awaits = what == InFlight::WaitFor::kEndOfTask;
  const absl::string_view fewer =
      awaits ? "fewer calls that wait at a time"
             : "fewer calls with a larger max_tasks; of streams, one per worker or producer is "
               "enough: it takes many tasks";
  if (parking == InFlight::Parking::kPrincipalIsFull) {
    return base::WithRetryDelay(
        PrincipalIsAtLimit(principal.name,
                           {"waiting_calls", "has as many calls and streams waiting",
                            in_flight.limits().principal_share},
                           absl::StrCat("use another broker, or ", fewer)),
        kUntilPlaceIsFree);
  }
  if (parking == InFlight::Parking::kConnectionIsFull) {
    return broker::TooManyWaitingCalls(
        absl::StrCat(in_flight.limits().parked_per_connection,
                     " calls and streams wait on this connection already"),
        absl::StrCat("use more connections, or ", fewer));
  }
  if (parking == InFlight::Parking::kAddressIsFull) {
    return broker::TooManyWaitingCalls(
        absl::StrCat("callers at this address who do not prove who they are have their part of ",
                     awaits ? "the places to wait for the ends of tasks" : "the places to wait",
                     " in this broker (", in_flight.limits().address_share, " %, --address-share)"),
        absl::StrCat("retry later, use another broker, or ", fewer));
  }
  const bool is_full_of_awaits = parking == InFlight::Parking::kAwaitsAreFull;
  return broker::TooManyWaitingCalls(
      absl::StrCat(is_full_of_awaits ? in_flight.PlacesOf(what) : in_flight.limits().parked,
                   is_full_of_awaits ? " calls wait for the ends of tasks"
                                     : " calls and streams wait",
                   " in this broker already"),
      absl::StrCat("retry later, use another broker, or ", fewer));
}

}  // namespace skiplane::rpc
