// Settles the items of one lane on one session: acks by row location, the rest by id, and a status
// of what could not be settled.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/broker/batch/context.h"
#include "server/broker/lease/lease_tracker.h"
#include "server/broker/settle/settle_call.h"
#include "server/metrics/metrics.h"
#include "server/model/queue.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {

class SettleBatch {
 public:
  SettleBatch(int64_t lane, const model::Queue& queue, LeaseTracker& tracker, Context& context);

  // Decides every item that is not decided yet, or fails; what was decided before stays so, and a
  // repeat decides the rest: what a lost commit of the same items did is found and answered.
  absl::Status Run(pg::Session& session, const std::vector<SettleItem*>& items);

  // In a transaction: decides every item, or fails. Only one statement may lock rows here, so
  // that they are locked in order. TRANSACTION_CONFLICT if rows have moved since they were leased:
  // roll back, and run again with `by_id`.
  absl::Status RunInTransaction(pg::Session& session, const std::vector<SettleItem*>& items,
                                bool by_id);
  // Decides those items whose leases are over.
  absl::Status Classify(pg::Session& session, const std::vector<SettleItem*>& items);

  // Call after COMMIT: applies in-memory effects. Without a transaction around Run, call it
  // whatever Run returned.
  void Committed();

  // Call after ROLLBACK: its items are open again.
  void RolledBack();

  // The same, if it was rolled back. A repeat finds out.
  void OutcomeUnknown();

  // Items that this run settled, not an earlier one.
  const std::vector<SettleItem*>& settled() const { return settled_; }

  // Items that an earlier run settled, in a commit whose answer was lost.
  const std::vector<SettleItem*>& recalled() const { return recalled_; }

  // Tasks that wait again, as far as Run came, and the database's time of it.
  const std::vector<store::UnleasedTasks>& unleased() const { return unleased_; }
  absl::Time now() const { return now_; }

  // Tasks that ended, as far as it is committed.
  const std::vector<int64_t>& ended() const { return ended_; }

 private:
  // A count of its own in `counts_`: acked, but not finished.
  static constexpr auto kMovedOn = static_cast<store::Action>(0);

  using Items = std::vector<SettleItem*>;

  store::SettleBatch BatchOf(const Items& items);
  absl::Status AckByLocation(pg::Session& session, const Items& acks);
  // All packed, or none: one statement, and so one commit outside of a transaction.
  absl::Status AckAlike(pg::Session& session, const Items& acks);
  absl::Status SettleById(pg::Session& session, const Items& items);
  absl::Status Recall(pg::Session& session, const Items& items);
  store::Settled Restore(const SettleItem& item, const store::Recalled& recalled) const;
  void NoteUnknown(const absl::Status& status, const Items& sent) const;
  absl::Status LockTasks(pg::Session& session, const Items& items) const;
  absl::Status SettleLocked(pg::Session& session, const Items& items);
  absl::Status TakeSettled(const absl::StatusOr<std::vector<store::Settled>>& settled,
                           const Items& items);
  void Decide(SettleItem& item, model::SettleOutcome outcome);
  void Apply(SettleItem& item, const store::Settled& settled);
  void CountAll();
  void Count(store::Action outcome, int64_t tasks);
  void NoteRunTime(const SettleItem& item, absl::Time settle_time);

  const int64_t try_id_;
  const int64_t lane_;
  const model::Queue& queue_;
  LeaseTracker& tracker_;
  metrics::Metrics& metrics_;
  MinuteRecorder& minutes_;
  bool GoesByLocation(const SettleItem& item) const;
  std::optional<int16_t> NextStage(const SettleItem& item) const;

  std::vector<SettleItem*> decided_;
  std::vector<SettleItem*> settled_;
  std::vector<SettleItem*> recalled_;
  std::map<store::Action, int64_t> counts_;
  // By stage and time of their end, which those of one statement have in common.
  std::map<std::pair<int16_t, absl::Time>, std::vector<absl::Duration>> run_times_;
  std::vector<store::UnleasedTasks> unleased_;
  std::vector<int64_t> ended_;
  absl::Time now_;
};

}  // namespace skiplane::broker
