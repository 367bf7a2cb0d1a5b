#include "server/broker/operate/bulk_runner.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/job/admin_job.h"
#include "server/broker/operate/change_once.h"
#include "server/broker/operate/task_operator.h"
#include "server/pg/conflicts.h"
#include "server/pg/transaction.h"
#include "server/store/queues.h"

namespace skiplane::broker {
namespace {

// A step takes some 10 to 30 ms, and holds its rows for that long.
constexpr int kRowsPerStep = 2000;
constexpr int kPayloadsPerStep = 200;  // when it looks into them
constexpr int kChangesPerStep = 500;
constexpr int kRest = 2;  // times the step
constexpr std::chrono::seconds kWatchEvery(5);
constexpr std::chrono::milliseconds kWhileWaiting(100);  // for other brokers

// The table after this one, if the filter means several.
void GoOn(const model::TaskStates& states, store::BulkCursor* cursor) {
  const std::vector<store::TaskTable> tables = store::TablesOf(states);
  const auto table = std::find(tables.begin(), tables.end(), cursor->table);
  cursor->after = 0;
  if (table != tables.end() && table + 1 != tables.end()) {
    cursor->table = *(table + 1);
    return;
  }
  cursor->table = tables.front();
  cursor->lanes.erase(cursor->lanes.begin());
}

bool IsDeletion(const model::TaskChange& change) {
  return change.kind == model::TaskChange::Kind::kDeleteQueue;
}

absl::Status HasBegun(const model::BulkOperation& deletion) {
  return base::Refuse(absl::StatusCode::kFailedPrecondition, "WRONG_STATE",
                      absl::StrCat("parts of queue \"", deletion.filter.queue,
                                   "\" are gone already: its deletion goes on to the end"));
}

// How many tasks were changed is known at the end only.
absl::Status NoteEnd(pg::Session& session, const model::SessionId& id) {
  ASSIGN_OR_RETURN(const model::BulkOperation operation, store::GetBulk(session, id));
  const model::Origin origin{operation.actor, "BulkOperationDone",
                             model::BulkToJson(operation.filter, operation.change)};
  return store::AddAudit(session, origin, operation.filter.queue, operation.changed);
}

// One that its caller may not see is refused as one that there is not.
absl::StatusOr<model::BulkOperation> Read(pg::Session& session, const model::SessionId& id,
                                          const Permit& permit) {
  absl::StatusOr<model::BulkOperation> found = store::GetBulk(session, id);
  if (found.ok()) RETURN_IF_ERROR(Ask(permit, found->filter.queue));
  if (absl::IsNotFound(found.status())) RETURN_IF_ERROR(Ask(permit, ""));
  return found;
}

}  // namespace

void BulkRunner::Watch() {
  context_.timer.After(kWatchEvery, [this] {
    auto find = [this](absl::StatusOr<pg::Session*> session) {
      if (!session.ok()) return;
      const auto idle = store::IdleBulks(**session);
      if (!idle.ok()) return;
      const auto operations = store::GetBulks(**session, *idle);
      if (!operations.ok()) return;
      for (const model::BulkOperation& each : *operations) Run(each.id, each.filter.queue);
    };
    context_.pool.Submit(std::move(find), {"idle bulk operations"});
    Watch();
  });
}

void BulkRunner::Get(const GetBulkCall& call, Callback<model::BulkOperation> done) {
  const auto until = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(call.wait);
  SubmitJob(context_.turns, TurnOf::kCall, call.party,
            Callback<model::BulkOperation>([this, id = call.id, until, done = std::move(done)](
                                               absl::StatusOr<model::BulkOperation> found) mutable {
              const absl::Duration left =
                  absl::FromChrono(until - std::chrono::steady_clock::now());
              const bool runs = found.ok() && found->state == model::BulkOperationState::kRunning;
              if (runs && left > absl::ZeroDuration()) {
                waiters_.Add(id, left, std::move(done));
              } else {
                done(std::move(found));
              }
            }),
            [id = call.id, permit = call.permit](pg::Session& session) {
              return Read(session, id, permit);
            });
}

void BulkRunner::Stop(StopBulkCall call, Callback<model::BulkOperation> done) {
  const model::SessionId id = call.id;
  const std::string party = call.party;
  SubmitChange(
      context_.turns, party, std::move(done),
      [call = std::move(call)](pg::Session& session) -> absl::Status {
        RETURN_IF_ERROR(Read(session, call.id, call.permit).status());  // of a repeat, too
        const auto stop = [&]() -> absl::StatusOr<std::string> {
          ASSIGN_OR_RETURN(const bool is_stopped, store::StopBulk(session, call.id));
          ASSIGN_OR_RETURN(const auto operation, store::GetBulk(session, call.id));
          if (is_stopped && IsDeletion(operation.change)) {
            if (operation.scanned > 0) return HasBegun(operation);
            RETURN_IF_ERROR(store::UndoDeletion(session, call.id));
          }
          // What an operation that ended has changed is in the record of its end.
          RETURN_IF_ERROR(store::AddAudit(session, call.origin, operation.filter.queue,
                                          is_stopped ? operation.changed : 0));
          return "";
        };
        return ChangeOnce(session, call.origin, stop).status();
      },
      [this, id](pg::Session& session) -> absl::StatusOr<model::BulkOperation> {
        ASSIGN_OR_RETURN(model::BulkOperation operation, store::GetBulk(session, id));
        if (IsDeletion(operation.change)) QueueChanged(session, operation.filter.queue);
        return operation;
      });
}

void BulkRunner::Run(const model::SessionId& id, const std::string& queue) {
  {
    base::MutexLock lock(mutex_);
    if (!running_.insert(id).second) return;
  }
  SubmitStep(id, queue);
}

// What fails is left to Watch, here or elsewhere: it may fail for ever.
void BulkRunner::SubmitStep(const model::SessionId& id, const std::string& queue) {
  auto make = [this, id, queue](absl::StatusOr<pg::Session*> session) {
    const auto began = std::chrono::steady_clock::now();
    const auto step = [&]() -> absl::StatusOr<BulkNext> {
      if (!session.ok()) return session.status();
      return pg::RepeatConflicts([&] { return RunStep(**session, id); });
    };
    const absl::StatusOr<BulkNext> next = step();
    if (!next.ok() || *next == BulkNext::kOver) {
      base::MutexLock lock(mutex_);
      running_.erase(id);
      return;
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    const auto rest = kRest * took;
    context_.timer.After(*next == BulkNext::kWait ? std::max(kWhileWaiting, rest) : rest,
                         [this, id, queue] { SubmitStep(id, queue); });
  };
  context_.turns.Submit(TurnOf::kStep, queue, std::move(make));
}

absl::StatusOr<BulkNext> BulkRunner::RunStep(pg::Session& session, const model::SessionId& id) {
  store::Changes changes;
  std::string queue;
  bool deletes_queue = false;
  const auto step = [&]() -> absl::StatusOr<BulkNext> {
    ASSIGN_OR_RETURN(std::optional<store::BulkCursor> cursor, store::ClaimBulk(session, id));
    if (!cursor.has_value()) return BulkNext::kOver;
    queue = cursor->filter.queue;
    deletes_queue = IsDeletion(cursor->change);
    ASSIGN_OR_RETURN(const BulkNext next, deletes_queue
                                              ? remover_.Run(session, id, *cursor)
                                              : ChangeTasks(session, id, *cursor, &changes));
    if (next == BulkNext::kOver && !cursor->dry_run) RETURN_IF_ERROR(NoteEnd(session, id));
    return next;
  };
  absl::StatusOr<BulkNext> next = pg::InTransaction(session, step);
  if (!next.ok()) {
    if (!pg::IsConflict(next.status())) {
      base::Log(base::LogLevel::kWarn, "bulk_step_failed",
                {{"message", std::string(next.status().message())}});
    }
    return next;
  }
  if (deletes_queue && *next == BulkNext::kOver) QueueChanged(session, queue);
  if (changes.cancelled > 0) {
    context_.metrics.Finished(queue, "cancelled", changes.cancelled);
  }
  context_.on_ended(changes.lane, changes.ended);
  const std::vector<store::UnleasedTasks> unleased = store::UnleasedOf(changes);
  if (!unleased.empty()) listeners_.on_commit(unleased, changes.now);
  return next;
}

// It is gone, or stays after all. This broker acts on it at once, the others when they hear of it.
void BulkRunner::QueueChanged(pg::Session& session, const std::string& queue) {
  static_cast<void>(queues_.Reload(session, queue));  // else it is read again soon
  listeners_.on_queues_changed();
}

absl::StatusOr<BulkNext> BulkRunner::ChangeTasks(pg::Session& session, const model::SessionId& id,
                                                 store::BulkCursor& cursor,
                                                 store::Changes* changes) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, cursor.lanes.front()));
  if (queue == nullptr) {  // deleted, while this began
    RETURN_IF_ERROR(store::StopBulk(session, id).status());
    return BulkNext::kOver;
  }
  ASSIGN_OR_RETURN(const store::BulkProgress progress, Work(session, cursor, changes));
  RETURN_IF_ERROR(store::AdvanceBulk(session, id, cursor, progress));
  return cursor.lanes.empty() ? BulkNext::kOver : BulkNext::kStep;
}

absl::StatusOr<store::BulkProgress> BulkRunner::Work(pg::Session& session,
                                                     store::BulkCursor& cursor,
                                                     store::Changes* changes) {
  const int64_t lane = cursor.lanes.front();
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, lane));
  if (queue == nullptr) return store::QueueNotFound(cursor.filter.queue);
  const int rows = cursor.filter.payload_text.empty() ? kRowsPerStep : kPayloadsPerStep;
  const store::Step step{cursor.table, lane, cursor.after, rows, kChangesPerStep};
  ASSIGN_OR_RETURN(const store::Matches matches,
                   store::FindTasks(session, step, cursor.filter, cursor.stage));
  if (!matches.ids.empty() && !cursor.dry_run) {
    ASSIGN_OR_RETURN(*changes, store::ChangeTasks(session, cursor.table, lane, matches.ids,
                                                  cursor.change, queue->settings));
  }
  if (matches.next_after.has_value()) {
    cursor.after = *matches.next_after;
  } else {
    GoOn(cursor.filter.states, &cursor);
  }
  return store::BulkProgress{matches.scanned, static_cast<int64_t>(matches.ids.size()),
                             static_cast<int64_t>(changes->tasks.size())};
}

}  // namespace skiplane::broker
