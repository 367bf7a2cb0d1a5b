// How many calls are being answered, so that a drain can end with the last of them: from Close() on
// no further one is accepted. And how many bytes they hold, because requests of all queues and
// methods share the broker's memory. Calls that wait are counted by themselves, in all and of each
// connection: however many there are, they take no room from other calls. Those that wait for the
// ends of tasks take at most half of the places, so that workers find theirs.
//
// One party gets a part of each limit only, so that others find room however much it asks for: a
// principal or, where nobody proves who it is, a connection. A few connections could take all
// places to wait: those at one address get a part of these too. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "server/base/mutex.h"
#include "server/base/part.h"
#include "server/model/limits.h"
#include "server/rpc/call/shares.h"

namespace skiplane::rpc {

class InFlight {
 public:
  struct Limits {
    int64_t calls = model::kCallsInFlightMax;
    int64_t bytes = model::kBytesInFlightMax;
    int64_t reserved_calls = model::kCallsReserved;  // beyond `calls` and `bytes`
    int64_t reserved_bytes = model::kBytesReserved;
    int64_t parked = model::kWaitingCallsMax;
    int64_t parked_per_connection = model::kWaitingCallsPerConnectionMax;
    // In percent, of the limits above; 100: no own limit.
    int64_t principal_share = model::kPrincipalShare;  // of a party
    int64_t address_share = model::kAddressShare;      // of `parked`, for those who prove nothing

    // Of a limit, what one party or address may have.
    int64_t PartOf(int64_t limit) const { return base::PartOf(limit, principal_share); }
    int64_t AddressPartOf(int64_t limit) const { return base::PartOf(limit, address_share); }
  };

  // What one call has of a server.
  struct Holding {
    Share* share = nullptr;  // of its party, once there was room for it
    bool is_of_principal = false;
    int64_t bytes = 0;
    int64_t party_bytes = 0;  // beside them, of its party only
  };

  enum class Room { kGranted, kPartyHasTooManyCalls, kPartyHasTooManyBytes, kBrokerIsFull };
  enum class Parking {
    kGranted, kPrincipalIsFull, kConnectionIsFull, kAddressIsFull, kAwaitsAreFull, kBrokerIsFull
  };
  enum class WaitFor { kTasks, kEndOfTask };

  InFlight() : InFlight(Limits()) {}
  explicit InFlight(Limits limits) : limits_(limits) {}

  // False after Close(): the call is not counted, and End() must not follow.
  bool Begin();
  // `holding`: what it has of Hold() and Add().
  void End(const Holding& holding);

  // Grants the bytes of a request, unless too many calls or bytes are under way, in all or of
  // `party`. `may_use_reserve`: the call is one of those for which a part is kept free.
  Room Hold(const Party& party, int64_t bytes, bool may_use_reserve, Holding* holding);
  // Counts those of an answer, which is there already: the next requests feel it. Negative: they
  // are given back.
  void Add(int64_t bytes, Holding* holding);
  // The same of its party only: in all they are bounded elsewhere (broker/batch/answer_memory.h).
  void AddToParty(int64_t bytes, Holding* holding);

  // If granted, the call counts as one that waits, and no longer as one of `calls`, until Unpark().
  // `connection`: the caller's address and port.
  Parking Park(const std::string& connection, WaitFor what, const Holding& holding);
  void Unpark(const std::string& connection, WaitFor what, const Holding& holding);

  // How many calls may wait so.
  int64_t PlacesOf(WaitFor what) const {
    return what == WaitFor::kTasks ? limits_.parked : (limits_.parked + 1) / 2;
  }

  // Calls that wait now.
  int64_t parked() const { return parked_; }

  const Limits& limits() const { return limits_; }

  void Close();

  // Returns false if calls were left at `deadline`.
  bool WaitForNone(std::chrono::steady_clock::time_point deadline);

 private:
  // Of those that wait, at one address.
  struct Parked {
    int64_t all = 0;
    int64_t awaiting = 0;
  };

  bool PartiesAreLimited() const { return limits_.principal_share < 100; }
  Parking MayPark(const std::string& connection, const std::string& address, WaitFor what,
                  const Holding& holding) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `by` is 1 or -1. What was moved to or from those that wait.
  void Count(const std::string& connection, const std::string& address, WaitFor what,
             const Holding& holding, int64_t by) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits limits_;
  base::Mutex mutex_;
  base::CondVar none_;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;   // but those that are parked
  std::atomic<int64_t> parked_ = 0;  // written under the mutex
  int64_t awaiting_ ABSL_GUARDED_BY(mutex_) = 0;  // of those that are parked
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, int64_t> parked_by_connection_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Parked> parked_by_address_ ABSL_GUARDED_BY(mutex_);
  Shares shares_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::rpc
