// What the connections of one server hold for their callers, in bytes and together: bodies until
// their calls are over, what packed ones unpack to, and answers that are not sent yet. Thread-safe.
//
// A body that there is no room for is refused, and bodies leave half of the room to answers. Those
// from one address leave a part of that half to the bodies of others. An
// answer cannot be refused: its work is done. So when there is no room left, those callers are
// given up that have taken nothing for the longest. Who reads is never the first.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/metrics/metrics.h"

namespace skiplane::http {

class ByteBudget {
 public:
  // The answers to one caller. Each step takes constant time, but for what it gives up.
  class Account {
   public:
    explicit Account(ByteBudget& budget) : budget_(budget) {}
    // What is still held is given back.
    ~Account();
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    // To be called first. `give_up` is called once at most, when this caller is the slowest; on the
    // thread of whoever needs the room, without a lock, maybe after the account's end.
    void OnGivenUp(std::function<void()> give_up);

    // More is held; negative: less, and the caller did not take it.
    void Hold(int64_t bytes);
    // The caller took something, and so much of it is no longer held.
    void Taken(int64_t bytes);

   private:
    friend class ByteBudget;

    ByteBudget& budget_;
    // Guarded by the budget's mutex.
    std::function<void()> give_up_;
    int64_t bytes_ = 0;
    bool is_given_up_ = false;
    bool is_queued_ = false;
    std::list<Account*>::iterator place_;
  };

  enum class Bodies { kRoom, kAddressIsFull, kFull };

  // `address_share`: in percent, of the room for bodies. `port`: what the log calls it. `metrics`
  // outlives the budget.
  ByteBudget(int64_t max, int address_share, absl::string_view port, metrics::Metrics& metrics)
      : max_(max), address_share_(address_share), port_(port), metrics_(metrics) {}

  // Of bodies; negative: no longer. `party`: see net::SocketAddress. Whether there is still room.
  Bodies HoldBody(const std::string& party, int64_t bytes);

  // For another request.
  bool HasRoom() const { return bytes_ - given_up_ < max_; }

  int64_t bytes() const { return bytes_; }

 private:
  using GiveUps = std::vector<std::function<void()>>;

  void Change(Account& account, int64_t bytes, bool has_taken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Place(Account& account, bool has_taken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  GiveUps MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // At most a line in ten seconds.
  void LogGivenUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t max_;
  const int address_share_;
  const std::string port_;
  metrics::Metrics& metrics_;
  std::atomic<int64_t> bytes_ = 0;   // all
  std::atomic<int64_t> bodies_ = 0;  // a part of them
  std::atomic<int64_t> given_up_ = 0;  // likewise; they will be free at once
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, int64_t> bodies_of_ ABSL_GUARDED_BY(mutex_);  // by party
  // Those with something to take, by when they took something, or began to have it: the longest ago
  // first.
  std::list<Account*> waiting_ ABSL_GUARDED_BY(mutex_);
  // Since the last line of the log.
  int64_t callers_given_up_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t bytes_given_up_ ABSL_GUARDED_BY(mutex_) = 0;
  std::chrono::steady_clock::time_point may_log_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::http
