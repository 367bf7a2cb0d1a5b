// One Ack, Nack or hand-back on its way: its items, what is known of each, and its parts by lane.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/base/mutex.h"
#include "server/broker/calls.h"
#include "server/broker/enqueue_batch.h"
#include "server/broker/next_lease.h"
#include "server/store/settle.h"

namespace skiplane::broker {

struct SettleItem {
  model::LeaseToken token;
  store::Action action = store::Action::kAck;
  std::optional<absl::Duration> retry_delay;  // of kRetry; unset: the queue's policy
  model::TaskError error;
  std::shared_ptr<const model::AckMore> more;  // of an ack that says more than that; else null
  PendingEnqueues follow_ups;                  // ready to be written
  model::AckResult result;
  bool is_decided = false;

  // What it asks for cannot be: it is answered so, and its lease is left as it is.
  void Refuse(absl::Status why) {
    result.outcome = model::SettleOutcome::kRefused;
    result.refusal = std::move(why);
    is_decided = true;
    more = nullptr;
    follow_ups.clear();
  }
};

// Parts of different lanes run at the same time; each touches its own items only.
struct SettleCall {
  std::vector<SettleItem> items;
  Done<std::vector<model::AckResult>> done;
  std::shared_ptr<NextLease> next;  // what to lease with the acks, if anything
  std::atomic<int> open_parts = 0;

  // A part is over. The last one answers: with every result, or with the first failure.
  void EndPart(const absl::Status& part_status) {
    {
      base::MutexLock lock(mutex);
      if (status.ok()) status = part_status;
    }
    if (open_parts.fetch_sub(1) > 1) return;
    base::MutexLock lock(mutex);
    if (!status.ok()) {
      done(status);
      return;
    }
    std::vector<model::AckResult> results;
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
