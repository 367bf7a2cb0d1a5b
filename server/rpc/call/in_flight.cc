#include "server/rpc/call/in_flight.h"

#include "server/net/address_party.h"

namespace skiplane::rpc {

bool InFlight::Begin() {
  base::MutexLock lock(mutex_);
  if (!is_closed_) ++calls_;
  return !is_closed_;
}

InFlight::Room InFlight::Hold(const Party& party, int64_t bytes, bool may_use_reserve,
                              Holding* holding) {
  const int64_t calls_max = limits_.calls + (may_use_reserve ? limits_.reserved_calls : 0);
  const int64_t bytes_max = limits_.bytes + (may_use_reserve ? limits_.reserved_bytes : 0);
  base::MutexLock lock(mutex_);
  Share& share = shares_.Of(party);
  if (PartiesAreLimited()) {
    if (share.calls >= limits_.PartOf(calls_max)) return Room::kPartyHasTooManyCalls;
    if (share.bytes + bytes > limits_.PartOf(bytes_max)) return Room::kPartyHasTooManyBytes;
  }
  if (calls_ > calls_max || bytes_ + bytes > bytes_max) return Room::kBrokerIsFull;
  bytes_ += bytes;
  share.bytes += bytes;
  shares_.BeginCall(share);
  *holding = {&share, party.is_principal, bytes};
  return Room::kGranted;
}

InFlight::Parking InFlight::Park(const std::string& connection, WaitFor what,
                                 const Holding& holding) {
  const std::string address = holding.is_of_principal ? "" : net::AddressParty(connection);
  base::MutexLock lock(mutex_);
  const Parking parking = MayPark(connection, address, what, holding);
  if (parking == Parking::kGranted) Count(connection, address, what, holding, 1);
  return parking;
}

void InFlight::Unpark(const std::string& connection, WaitFor what, const Holding& holding) {
  const std::string address = holding.is_of_principal ? "" : net::AddressParty(connection);
  base::MutexLock lock(mutex_);
  Count(connection, address, what, holding, -1);
}

InFlight::Parking InFlight::MayPark(const std::string& connection, const std::string& address,
                                    WaitFor what, const Holding& holding) const {
  const bool awaits = what == WaitFor::kEndOfTask;
  const Share& share = *holding.share;
  if (holding.is_of_principal && PartiesAreLimited() &&
      (share.parked >= limits_.PartOf(limits_.parked) ||
       (awaits && share.awaiting >= limits_.PartOf(PlacesOf(what))))) {
    return Parking::kPrincipalIsFull;
  }
  if (parked_ >= limits_.parked) return Parking::kBrokerIsFull;
  if (awaits && awaiting_ >= PlacesOf(what)) return Parking::kAwaitsAreFull;
  const auto of_connection = parked_by_connection_.find(connection);
  if (of_connection != parked_by_connection_.end() &&
      of_connection->second >= limits_.parked_per_connection) {
    return Parking::kConnectionIsFull;
  }
  const auto of_address = parked_by_address_.find(address);
  if (of_address == parked_by_address_.end() || limits_.address_share == 100) {
    return Parking::kGranted;
  }
  const bool is_full =
      of_address->second.all >= limits_.AddressPartOf(limits_.parked) ||
      (awaits && of_address->second.awaiting >= limits_.AddressPartOf(PlacesOf(what)));
  return is_full ? Parking::kAddressIsFull : Parking::kGranted;
}

void InFlight::Count(const std::string& connection, const std::string& address, WaitFor what,
                     const Holding& holding, int64_t by) {
  const int64_t awaiting = what == WaitFor::kEndOfTask ? by : 0;
  parked_ += by;
  awaiting_ += awaiting;
  calls_ -= by;
  holding.share->parked += by;
  holding.share->awaiting += awaiting;
  holding.share->calls -= by;
  const auto of_connection = parked_by_connection_.try_emplace(connection).first;
  of_connection->second += by;
  if (of_connection->second == 0) parked_by_connection_.erase(of_connection);
  if (holding.is_of_principal) return;
  const auto of_address = parked_by_address_.try_emplace(address).first;
  of_address->second.all += by;
  of_address->second.awaiting += awaiting;
  if (of_address->second.all == 0) parked_by_address_.erase(of_address);
}

void InFlight::Add(int64_t bytes, Holding* holding) {
  holding->bytes += bytes;
  base::MutexLock lock(mutex_);
  bytes_ += bytes;
  if (holding->share != nullptr) holding->share->bytes += bytes;
}

void InFlight::AddToParty(int64_t bytes, Holding* holding) {
  if (holding->share == nullptr) return;
  holding->party_bytes += bytes;
  base::MutexLock lock(mutex_);
  holding->share->bytes += bytes;
}

void InFlight::End(const Holding& holding) {
  base::MutexLock lock(mutex_);
  bytes_ -= holding.bytes;
  if (holding.share != nullptr) {
    holding.share->bytes -= holding.bytes + holding.party_bytes;
    shares_.EndCall(*holding.share);
  }
  if (--calls_ + parked_ == 0) none_.NotifyAll();
}

void InFlight::Close() {
  base::MutexLock lock(mutex_);
  is_closed_ = true;
}

bool InFlight::WaitForNone(std::chrono::steady_clock::time_point deadline) {
  base::MutexLock lock(mutex_);
  while (calls_ + parked_ > 0) {
    if (!none_.WaitUntil(mutex_, deadline)) return calls_ + parked_ == 0;
  }
  return true;
}

}  // namespace skiplane::rpc
