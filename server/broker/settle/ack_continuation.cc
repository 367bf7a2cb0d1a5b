#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/settle/settler.h"
#include "server/pg/conflicts.h"
#include "server/pg/transaction.h"

namespace skiplane::broker {

namespace {

// Whether only what the item asks for is to blame.
bool IsOfItem(const absl::Status& status) {
  const std::string reason = base::ReasonOf(status);
  return reason == "INVALID_FIELD" || reason == "QUEUE_NOT_FOUND" || reason == "QUEUE_PAUSED" ||
         reason == "QUEUE_DELETING" || reason == "TOO_MANY_QUEUES" ||
         reason == "TOO_MANY_NEW_QUEUES";
}

// What is wrong with the queue of a follow-up blames no field by itself.
absl::Status BlameQueue(absl::string_view field, const absl::Status& status) {
  if (!IsOfItem(status) || !base::FieldOf(status).empty()) return status;
  return base::RefuseField(status.code(), base::ReasonOf(status), field, status.message());
}

absl::Status CheckAgainst(const model::Queue& queue, const model::AckContinuation& continuation) {
  if (!continuation.next_stage.empty() &&
      !queue.settings.FindStage(continuation.next_stage).has_value()) {
    return base::InvalidField("next_stage",
                              absl::StrCat("is not a stage of queue \"", queue.name, "\""));
  }
  const auto bytes_max = static_cast<size_t>(queue.settings.max_payload_bytes);
  if (continuation.next_content.has_value() &&
      continuation.next_content->payload.size() > bytes_max) {
    return base::InvalidField(
        "next_payload.payload",
        absl::StrCat("is larger than the queue's limit of ", bytes_max, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

// Looks everything up that may be refused, so that an item that is refused has changed nothing.
// Those before `first` are done with.
void Settler::PrepareContinuations(std::shared_ptr<SettleCall> call, size_t first) {
  std::vector<SettleItem>& items = call->items;
  while (first < items.size() && items[first].continuation == nullptr) ++first;
  if (first == items.size()) return Submit(std::move(call));
  const std::string party = items[first].continuation->party;
  auto look = [this, call, first](absl::StatusOr<pg::Session*> session) {
    const base::SteadyTime turn_ends = std::chrono::steady_clock::now() + kTurn;
    absl::Status status = session.status();
    for (size_t i = first; i < call->items.size() && status.ok(); ++i) {
      SettleItem& item = call->items[i];
      if (item.continuation == nullptr) continue;
      if (i > first && std::chrono::steady_clock::now() >= turn_ends) {
        return PrepareContinuations(call, i);
      }
      const absl::StatusOr<bool> done = CheckContinuation(**session, item, turn_ends);
      if (done.ok() && !*done) return PrepareContinuations(call, i);
      status = done.status();
      if (IsOfItem(status)) status = RefuseUnlessOver(**session, item, status);
    }
    if (status.ok()) {
      Submit(call);
    } else {
      call->done(IsOutcomeUnknown(status) ? RepeatLater() : status);
    }
  };
  context_.turns.Submit(TurnOf::kWork, party, std::move(look));
}

// The repeat of an ack that was done is as good as done, whatever could not be asked for any more.
absl::Status Settler::RefuseUnlessOver(pg::Session& session, SettleItem& item,
                                       const absl::Status& why) {
  const int64_t lane = item.token.task.lane;
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, lane));
  if (queue == nullptr) {  // it was deleted meanwhile
    item.Refuse(why);
    return absl::OkStatus();
  }
  SettleBatch batch(lane, *queue, tracker_, context_);
  RETURN_IF_ERROR(batch.Classify(session, {&item}));
  if (!item.is_decided) item.Refuse(why);
  return absl::OkStatus();
}

absl::StatusOr<bool> Settler::CheckContinuation(pg::Session& session, SettleItem& item,
                                                base::SteadyTime turn_ends) {
  const model::AckContinuation& continuation = *item.continuation;
  ASSIGN_OR_RETURN(QueuePtr queue, queues_.FindLane(session, item.token.task.lane));
  if (queue == nullptr) return true;  // of another installation: NOT_FOUND
  RETURN_IF_ERROR(queues_.Check(session, &queue, [&](const model::Queue& known) {
    return CheckAgainst(known, continuation);
  }));
  while (item.follow_ups.size() < continuation.follow_ups.size()) {
    const size_t i = item.follow_ups.size();
    const std::string path = absl::StrCat("follow_ups[", i, "].");
    auto pending = enqueuer_.Prepare(session, continuation.follow_ups[i], continuation.principal,
                                     path);
    if (!pending.ok()) return BlameQueue(absl::StrCat(path, "queue"), pending.status());
    item.follow_ups.push_back(*std::move(pending));
    const bool are_all = item.follow_ups.size() == continuation.follow_ups.size();
    if (!are_all && std::chrono::steady_clock::now() >= turn_ends) return false;
  }
  return true;
}

// The items, the tasks that follow from them and the next leases are one commit. What the first try
// locks beside that of the items is not in one order with it, so that a deadlock is possible: its
// repeat locks all of it first.
absl::Status Settler::RunInTransaction(pg::Session& session, SettleBatch& batch,
                                       const std::vector<SettleItem*>& items,
                                       const std::vector<SettlePart>& parts,
                                       std::vector<Reservation>& reservations) {
  Enqueuer::Uncommitted written;
  bool by_id = false;
  const auto write = [&]() -> absl::StatusOr<bool> {
    batch.RolledBack();  // what a try before this one did
    written = {};
    RETURN_IF_ERROR(batch.RunInTransaction(session, items, std::exchange(by_id, true)));
    RETURN_IF_ERROR(WriteFollowUps(session, batch.settled(), &written));
    for (SettleItem* item : batch.recalled()) RETURN_IF_ERROR(RecallFollowUps(session, *item));
    WithdrawRepeats(parts, reservations);
    for (Reservation& reservation : reservations) {
      RETURN_IF_ERROR(Dispatcher::LeaseReserved(session, reservation));
    }
    return true;
  };
  const absl::Status status =
      pg::RepeatConflicts([&] { return pg::InTransaction(session, write); }).status();
  for (Reservation& reservation : reservations) dispatcher_.EndReservation(reservation, status);
  if (IsOutcomeUnknown(status)) batch.OutcomeUnknown();
  if (!status.ok()) {
    batch.RolledBack();
    return status;
  }
  batch.Committed();
  if (!written.calls.empty()) enqueuer_.Committed(written);
  return absl::OkStatus();
}

// What the first try of a call leased may be in any lane: a repeat looks for it after its items.
// A call that has just settled something is the first try: its lease never comes before them.
void Settler::WithdrawRepeats(const std::vector<SettlePart>& parts,
                              std::vector<Reservation>& reservations) {
  absl::flat_hash_set<const SettleAndLeaseOperation*> first_tries;
  for (const SettlePart& part : parts) {
    const SettleCall& call = *part.call;
    if (call.open_parts > 1) continue;  // others work on its items
    if (call.next != nullptr && call.HasSettled()) first_tries.insert(call.next.get());
  }
  std::vector<Reservation> kept;
  for (Reservation& reservation : reservations) {
    const auto is_first_try = [&](const SettleAndLeasePtr& next) {
      return !next->IsRepeatable() || first_tries.contains(next.get());
    };
    const bool may_lease = std::ranges::all_of(reservation.nexts, is_first_try);
    if (may_lease) {
      kept.push_back(std::move(reservation));
    } else {
      dispatcher_.EndReservation(reservation, absl::AbortedError("it may be a repeat"));
    }
  }
  reservations = std::move(kept);
}

// In one statement, which takes keys in order: a second one might wait for somebody who waits for
// the first.
absl::Status Settler::WriteFollowUps(pg::Session& session, const std::vector<SettleItem*>& items,
                                     Enqueuer::Uncommitted* written) {
  PendingEnqueues follow_ups;
  for (SettleItem* item : items) {
    std::ranges::move(item->follow_ups, std::back_inserter(follow_ups));
  }
  if (follow_ups.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<EnqueueResult>> results =
      enqueuer_.WriteInTransaction(session, follow_ups, written);
  size_t next = 0;
  for (SettleItem* item : items) {
    item->result.follow_ups.clear();
    for (std::unique_ptr<PendingEnqueue>& follow_up : item->follow_ups) {
      follow_up = std::move(follow_ups[next]);  // a repeat writes it again
      if (results.ok()) item->result.follow_ups.push_back((*results)[next]);
      ++next;
    }
  }
  return results.status();
}

absl::Status Settler::RecallFollowUps(pg::Session& session, SettleItem& item) {
  item.result.follow_ups.clear();
  for (const std::unique_ptr<PendingEnqueue>& follow_up : item.follow_ups) {
    ASSIGN_OR_RETURN(std::vector<EnqueueResult> results, enqueuer_.Recall(session, *follow_up));
    item.result.follow_ups.push_back(results.front());
  }
  return absl::OkStatus();
}

}  // namespace skiplane::broker
