// One Ack, Nack, Settle or hand-back on its way: its items, what is known of each, and its parts
// by lane.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/mutex.h"
#include "server/broker/api/calls.h"
#include "server/broker/enqueue/enqueue_batch.h"
#include "server/broker/lease/settle_and_lease_operation.h"
#include "server/store/settle.h"

namespace skiplane::broker {

struct SettleItem {
  model::LeaseToken token;
  store::Action action = store::Action::kAck;
  std::optional<absl::Duration> retry_delay;  // of kRetry; unset until it is drawn by the policy
  model::TaskError error;
  // Of an ack that says what follows; else null.
  std::shared_ptr<const model::AckContinuation> continuation;
  PendingEnqueues follow_ups;                  // ready to be written
  model::SettleResult result;
  bool is_decided = false;
  std::vector<int64_t> tries;  // ids of those that settled it if they were committed: nobody knows

  // What it asks for cannot be: it is answered so, and its lease is left as it is.
  void Refuse(absl::Status why) {
    result.outcome = model::SettleOutcome::kRefused;
    result.refusal = std::move(why);
    is_decided = true;
    continuation = nullptr;
    follow_ups.clear();
  }
};

// Parts of different lanes run at the same time; each touches its own items only.
struct SettleCall {
  std::string party;  // as in LeaseCall
  std::vector<SettleItem> items;
  Callback<std::vector<model::SettleResult>> done;
  std::shared_ptr<SettleAndLeaseOperation> next;  // what to lease with it, if anything
  std::atomic<int> open_parts = 0;

  // Whether any item was settled by this call, as far as it came. If none was, it may be the repeat
  // of one that settled them.
  bool HasSettled() const {
    return std::any_of(items.begin(), items.end(), [](const SettleItem& item) {
      return item.is_decided && item.result.outcome == model::SettleOutcome::kSettled;
    });
  }

  // A part is over. The last one answers: with every result, or with the first failure.
  void EndPart(const absl::Status& part_status) {
    absl::Status first_failure;
    {
      base::MutexLock lock(mutex);
      if (status.ok()) status = part_status;
      if (open_parts.fetch_sub(1) > 1) return;
      first_failure = status;
    }
    if (!first_failure.ok()) {
      done(first_failure);
      return;
    }
    std::vector<model::SettleResult> results;
    for (SettleItem& item : items) results.push_back(std::move(item.result));
    done(std::move(results));
  }

  base::Mutex mutex;
  absl::Status status ABSL_GUARDED_BY(mutex);
};

// The items of one call in one lane.
struct SettlePart {
  std::shared_ptr<SettleCall> call;
  std::vector<size_t> items;  // indexes into the call's
  int tries = 0;
};

}  // namespace skiplane::broker
