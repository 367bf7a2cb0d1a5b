#include "server/rpc/call/in_flight.h"

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
  const bool awaits = what == WaitFor::kEndOfTask;
  base::MutexLock lock(mutex_);
  Share& share = *holding.share;
  if (holding.is_of_principal && PartiesAreLimited() &&
      (share.parked >= limits_.PartOf(limits_.parked) ||
       (awaits && share.awaiting >= limits_.PartOf(PlacesOf(what))))) {
    return Parking::kPrincipalIsFull;
  }
  if (parked_ >= limits_.parked) return Parking::kBrokerIsFull;
  if (awaits && awaiting_ >= PlacesOf(what)) return Parking::kAwaitsAreFull;
  int64_t& of_connection = parked_by_connection_[connection];
  if (of_connection >= limits_.parked_per_connection) return Parking::kConnectionIsFull;
  ++of_connection;
  ++parked_;
  ++share.parked;
  if (awaits) {
    ++awaiting_;
    ++share.awaiting;
  }
  --calls_;
  --share.calls;
  return Parking::kGranted;
}

void InFlight::Unpark(const std::string& connection, WaitFor what, const Holding& holding) {
  base::MutexLock lock(mutex_);
  const auto found = parked_by_connection_.find(connection);
  if (--found->second == 0) parked_by_connection_.erase(found);
  --parked_;
  --holding.share->parked;
  if (what == WaitFor::kEndOfTask) {
    --awaiting_;
    --holding.share->awaiting;
  }
  ++calls_;
  ++holding.share->calls;
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
