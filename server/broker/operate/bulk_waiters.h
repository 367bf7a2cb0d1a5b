// Calls that wait for the end of bulk operations. However many there are, one statement asks for
// all of them, 20 times a second. Thread-safe.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/broker/api/calls.h"
#include "server/broker/batch/context.h"
#include "server/model/report.h"

namespace skiplane::broker {

class BulkWaiters {
 public:
  using Ids = absl::flat_hash_set<model::SessionId>;
  using Operations = absl::flat_hash_map<model::SessionId, model::BulkOperation>;

  explicit BulkWaiters(Context& context) : context_(context) {}

  // Answers when the operation has ended, or with how far it is when `wait` is over.
  void Add(const model::SessionId& id, absl::Duration wait, Callback<model::BulkOperation> done);

  // From now on nobody waits: who does is answered with how far it is.
  void End();

 private:
  struct Waiter {
    model::SessionId id;
    base::SteadyTime until;
    Callback<model::BulkOperation> done;
  };

  bool GoOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnTimer();
  void Ask();
  void Answer(const Ids& asked, const absl::StatusOr<Operations>& found);

  Context& context_;
  base::Mutex mutex_;
  std::vector<Waiter> waiting_ ABSL_GUARDED_BY(mutex_);
  enum class State { kIdle, kPausing, kAsking };
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skiplane::broker
