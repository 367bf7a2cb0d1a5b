// Sends what became of attempts: one thread, which takes whatever gathered while its last call was
// on the way. Results are kept through outages until the broker has answered for them. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "client/src/worker/holdings.h"
#include "client/src/worker/line.h"
#include "client/src/worker/tally.h"
#include "skiplane/client.h"

namespace skiplane::internal {

class Settler {
 public:
  Settler(Client client, Holdings& holdings, Tally& tally);
  ~Settler() { Stop(absl::ZeroDuration()); }

  // Takes over a hold whose End() or Withdraw() was true.
  void Add(HoldPtr hold, Result result);

  // Returns when everything is sent, or gives up what is not after `at_most`. Idempotent.
  void Stop(absl::Duration at_most);

 private:
  struct Settlement {
    HoldPtr hold;
    Result result;
  };

  void Loop();
  // Waits for settlements and takes some of one verb; empty: stopping and nothing is left.
  std::vector<Settlement> TakeBatch();
  // Returns the broker's outcomes, one per settlement.
  absl::StatusOr<std::vector<SettleOutcome>> Send(const std::vector<Settlement>& batch);
  void Account(const std::vector<Settlement>& batch, const std::vector<SettleOutcome>& outcomes);
  void PutBack(std::vector<Settlement> batch);

  Client client_;
  Holdings& holdings_;
  Tally& tally_;
  Line line_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  bool is_idle_ = true;
  std::deque<Settlement> acks_;
  std::deque<Settlement> nacks_;
  std::thread thread_;
};

}  // namespace skiplane::internal
