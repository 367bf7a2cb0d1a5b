// A worker's calls where there are no streams: for a burst, which has to be told that nothing is
// ready, and for a broker without them. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/src/worker/fetcher.h"
#include "client/src/worker/heart.h"
#include "client/src/worker/link.h"

namespace skiplane::internal {

class UnaryWork {
 public:
  UnaryWork(Client client, LeaseCall call, FetchLimits limits, Link& link, Command& command,
            Holdings& holdings, Tally& tally);

  // Leases and renews from now on, for some minutes unless it is a burst; then the link has another
  // try.
  void Begin();

  // Holdings must be closed. Nothing is leased after it returns. Idempotent.
  void StopFetching();
  void StopHeart();

  // Of a burst, after Begin().
  absl::Status WaitForEnd() { return fetcher_->WaitForEnd(); }

 private:
  const Client client_;
  const LeaseCall call_;
  const FetchLimits limits_;
  Link& link_;
  Command& command_;
  Holdings& holdings_;
  Tally& tally_;

  std::mutex mutex_;
  bool is_stopped_ = false;
  std::optional<Heart> heart_;
  std::unique_ptr<Fetcher> fetcher_;
};

}  // namespace skiplane::internal
