#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/admin_job.h"
#include "server/broker/refusals.h"
#include "server/broker/settler.h"

namespace skiplane::broker {

// Looks everything up that may be refused, so that a call that is refused has changed nothing.
void Settler::PrepareMore(std::shared_ptr<SettleCall> call) {
  context_.pool.Submit([this, call](absl::StatusOr<pg::Session*> session) {
    absl::Status status = session.status();
    for (size_t i = 0; i < call->items.size() && status.ok(); ++i) {
      if (call->items[i].more == nullptr) continue;
      status = CheckMore(**session, call->items[i]);
      if (!status.ok()) status = base::PrefixField(absl::StrCat("items[", i, "]."), status);
    }
    if (status.ok()) {
      Submit(call);
    } else {
      call->done(IsOutcomeUnknown(status) ? RepeatLater() : status);
    }
  });
}

absl::Status Settler::CheckMore(pg::Session& session, SettleItem& item) {
  const model::AckMore& more = *item.more;
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, item.token.task.lane));
  if (queue != nullptr && !more.next_stage.empty() &&
      !queue->settings.FindStage(more.next_stage).has_value()) {
    return base::InvalidField("next_stage",
                              absl::StrCat("is not a stage of queue \"", queue->name, "\""));
  }
  if (queue != nullptr && more.next_content.has_value() &&
      more.next_content->payload.size() > static_cast<size_t>(queue->settings.payload_bytes_max)) {
    return base::InvalidField("next_payload.payload",
                              absl::StrCat("is larger than the queue's limit of ",
                                           queue->settings.payload_bytes_max, " bytes"));
  }
  for (size_t i = 0; i < more.follow_ups.size(); ++i) {
    const model::AckMore::FollowUp& follow_up = more.follow_ups[i];
    ASSIGN_OR_RETURN(
        std::unique_ptr<PendingEnqueue> pending,
        enqueuer_.Prepare(session, follow_up.queue, follow_up.task,
                          absl::StrCat("follow_ups[", i, "].task.")));
    item.follow_ups.push_back(std::move(pending));
  }
  return absl::OkStatus();
}

// The acks, the tasks that follow from them and the next leases are one commit.
absl::Status Settler::RunInTransaction(pg::Session& session, SettleBatch& batch,
                                       const std::vector<SettleItem*>& items,
                                       const std::vector<SettlePart>& parts,
                                       std::vector<LeaseWithin>& withins) {
  std::vector<Enqueuer::Within> written;
  const auto write = [&]() -> absl::StatusOr<bool> {
    RETURN_IF_ERROR(batch.Run(session, items));
    for (SettleItem* item : batch.settled()) {
      RETURN_IF_ERROR(WriteFollowUps(session, *item, &written));
    }
    WithdrawRepeats(parts, withins);
    for (LeaseWithin& within : withins) {
      RETURN_IF_ERROR(Dispatcher::RunWithin(session, within));
    }
    return true;
  };
  const absl::Status status = InTransaction(session, write).status();
  for (LeaseWithin& within : withins) dispatcher_.EndWithin(within, status);
  if (!status.ok()) {
    batch.RolledBack();
    return status;
  }
  batch.Committed();
  for (const Enqueuer::Within& within : written) enqueuer_.Committed(within);
  return absl::OkStatus();
}

// What the first try of a call leased may be in any lane: a repeat looks for it after the acks. A
// call that has just settled something is the first try: its lease never comes before its acks.
void Settler::WithdrawRepeats(const std::vector<SettlePart>& parts,
                              std::vector<LeaseWithin>& withins) {
  absl::flat_hash_set<const NextLease*> first_tries;
  for (const SettlePart& part : parts) {
    const SettleCall& call = *part.call;
    if (call.open_parts > 1) continue;  // others work on its items
    if (call.next != nullptr && call.HasSettled()) first_tries.insert(call.next.get());
  }
  std::erase_if(withins, [&](LeaseWithin& within) {
    const bool may_lease = std::ranges::all_of(within.nexts, [&](const NextLeasePtr& next) {
      return !next->IsRepeatable() || first_tries.contains(next.get());
    });
    if (!may_lease) dispatcher_.EndWithin(within, absl::AbortedError("it may be a repeat"));
    return !may_lease;
  });
}

absl::Status Settler::WriteFollowUps(pg::Session& session, SettleItem& item,
                                     std::vector<Enqueuer::Within>* written) {
  item.result.follow_ups.clear();
  for (std::unique_ptr<PendingEnqueue>& follow_up : item.follow_ups) {
    ASSIGN_OR_RETURN(std::vector<EnqueueResult> results,
                     enqueuer_.WriteWithin(session, follow_up, written));
    item.result.follow_ups.push_back(results.front());
  }
  return absl::OkStatus();
}

}  // namespace skiplane::broker
