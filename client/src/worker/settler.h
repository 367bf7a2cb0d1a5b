// Sends what became of attempts: one thread, which takes whatever gathered while its last call was
// on the way. Results are kept through outages until the broker has answered for them; one that the
// broker refuses takes nobody with it. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
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
  struct Waiting {
    HoldPtr hold;
    Result result;
    bool is_alone = false;  // in a call of its own, after one with others was refused
  };

  void Loop();
  // Waits for settlements and takes some; empty: stopping and nothing is left.
  std::vector<Waiting> TakeBatch();
  // How many of the first ones go into one call. With mutex_ held.
  ptrdiff_t ThatFit() const;
  // Returns the broker's results, one per settlement.
  absl::StatusOr<std::vector<SettleResult>> Send(const std::vector<Waiting>& batch);
  void Account(std::vector<Waiting>& batch, const std::vector<SettleResult>& results);
  // The settlement is over.
  void End(const Waiting& settlement, AttemptEnd end);
  void PutBack(std::vector<Waiting> batch);
  // An ack that cannot be has failed. A nack that cannot be is given up: its task stays leased for
  // its max_run_duration or until the session ends. A repeat would be refused again.
  void Refused(Waiting settlement, const absl::Status& refusal);
  // Of a call that was refused: one item is to blame, so each goes alone.
  void TakeBack(std::vector<Waiting> batch, const absl::Status& refusal);

  Client client_;
  const bool has_codec_;
  Holdings& holdings_;
  Tally& tally_;
  Line line_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  bool is_idle_ = true;
  std::deque<Waiting> queue_;
  std::thread thread_;
};

}  // namespace skiplane::internal
