#include "server/broker/operate/bulk_runner.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/broker/operate/admin_job.h"
#include "server/broker/operate/change_once.h"
#include "server/broker/operate/task_operator.h"
#include "server/pg/conflicts.h"
#include "server/pg/transaction.h"
#include "server/store/queues.h"

namespace skiplane::broker {
namespace {

// A step takes some 10 to 30 ms, and holds its rows for that long.
constexpr int kRowsPerStep = 2000;
constexpr int kChangesPerStep = 500;
constexpr int kRest = 2;  // times the step
constexpr std::chrono::seconds kWatchEvery(5);
constexpr std::chrono::milliseconds kAfterFailure(500);

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

// For the read of an operation that was begun: its error is not that of the call.
Callback<model::BulkOperation> ReadOr(const absl::Status& if_unread,
                                      Callback<model::BulkOperation> done) {
  return [if_unread,
          done = std::move(done)](absl::StatusOr<model::BulkOperation> found) mutable {
    if (!found.ok() && !absl::IsNotFound(found.status())) found = if_unread;
    done(std::move(found));
  };
}

}  // namespace

void BulkRunner::Watch() {
  context_.timer.After(kWatchEvery, [this] {
    context_.pool.Submit([this](absl::StatusOr<pg::Session*> session) {
      if (!session.ok()) return;
      const auto idle = store::IdleBulks(**session);
      if (!idle.ok()) return;
      for (const model::SessionId& id : *idle) SubmitStep(id);
    });
    Watch();
  });
}

void BulkRunner::Start(StartBulkCall call, Callback<model::BulkOperation> done) {
  const absl::Duration wait = call.wait;
  absl::Status if_unknown = call.dry_run ? RepeatLater() : RepeatOrRead(call.origin);
  Callback<Begun> read = [this, wait, dry_run = call.dry_run, if_unknown,
                          done = std::move(done)](absl::StatusOr<Begun> begun) mutable {
    if (!begun.ok()) {
      done(begun.status());
      return;
    }
    // Who made steps goes on, and if it ended, who watches does.
    if (!begun->has_steps) SubmitStep(begun->id);
    Get({begun->id, wait}, dry_run ? std::move(done) : ReadOr(if_unknown, std::move(done)));
  };
  SubmitJob(
      context_.pool, std::move(read),
      [this, call = std::move(call)](pg::Session& session) { return Create(session, call); },
      std::move(if_unknown));
}

absl::StatusOr<BulkRunner::Begun> BulkRunner::Create(pg::Session& session,
                                                     const StartBulkCall& call) {
  store::NewBulk bulk;
  bulk.id = model::NewSessionId();
  bulk.filter = call.filter;
  bulk.change = call.change;
  bulk.dry_run = call.dry_run;
  bulk.actor = call.origin.actor;
  ASSIGN_OR_RETURN(const QueuePtr queue,
                   queues_.GetExisting(session, call.filter.queue, call.queue_field));
  bulk.queue_id = queue->id;
  bulk.lanes = queue->lanes;
  const auto create = [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(bulk.stage,
                     queues_.StageOf(session, queue, call.filter.stage, "filter.stage"));
    RETURN_IF_ERROR(store::CreateBulk(session, bulk));
    if (!bulk.dry_run) RETURN_IF_ERROR(store::AddAudit(session, call.origin, queue->name, 0));
    return absl::BytesToHexString(std::string(bulk.id.begin(), bulk.id.end()));
  };
  ASSIGN_OR_RETURN(const auto earlier, ChangeOnce(session, call.origin, create));
  if (!earlier.has_value()) return Begun{bulk.id};
  Begun begun;
  absl::c_copy_n(absl::HexStringToBytes(*earlier), begun.id.size(), begun.id.begin());
  ASSIGN_OR_RETURN(const model::BulkOperation operation, store::GetBulk(session, begun.id));
  begun.has_steps = operation.update_time != operation.create_time;
  return begun;
}

void BulkRunner::Get(const GetBulkCall& call, Callback<model::BulkOperation> done) {
  const auto until = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(call.wait);
  SubmitJob(context_.pool,
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
  SubmitChange(
      context_.pool, std::move(done),
      [call = std::move(call)](pg::Session& session) -> absl::Status {
        RETURN_IF_ERROR(Read(session, call.id, call.permit).status());  // of a repeat, too
        const auto stop = [&]() -> absl::StatusOr<std::string> {
          ASSIGN_OR_RETURN(const bool is_stopped, store::StopBulk(session, call.id));
          ASSIGN_OR_RETURN(const auto operation, store::GetBulk(session, call.id));
          // What an operation that ended has changed is in the record of its end.
          RETURN_IF_ERROR(store::AddAudit(session, call.origin, operation.filter.queue,
                                          is_stopped ? operation.changed : 0));
          return "";
        };
        return ChangeOnce(session, call.origin, stop).status();
      },
      [id](pg::Session& session) { return store::GetBulk(session, id); });
}

void BulkRunner::SubmitStep(const model::SessionId& id) {
  context_.pool.Submit([this, id](absl::StatusOr<pg::Session*> session) {
    if (!session.ok()) return;  // Watch, here or elsewhere, goes on with it
    const auto began = std::chrono::steady_clock::now();
    const absl::StatusOr<bool> has_more =
        pg::RepeatConflicts([&] { return RunStep(**session, id); });
    if (has_more.ok() && !*has_more) return;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began);
    context_.timer.After(has_more.ok() ? kRest * took : kAfterFailure, [this, id] {
      SubmitStep(id);
    });
  });
}

absl::StatusOr<bool> BulkRunner::RunStep(pg::Session& session, const model::SessionId& id) {
  store::Changes changes;
  std::string queue;
  const auto step = [&]() -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(std::optional<store::BulkCursor> cursor, store::ClaimBulk(session, id));
    if (!cursor.has_value()) return false;
    queue = cursor->filter.queue;
    ASSIGN_OR_RETURN(const store::BulkProgress progress, Work(session, *cursor, &changes));
    RETURN_IF_ERROR(store::AdvanceBulk(session, id, *cursor, progress));
    if (!cursor->lanes.empty()) return true;
    if (!cursor->dry_run) RETURN_IF_ERROR(NoteEnd(session, id));
    return false;
  };
  absl::StatusOr<bool> has_more = pg::InTransaction(session, step);
  if (!has_more.ok()) {
    if (!pg::IsConflict(has_more.status())) {
      base::Log(base::LogLevel::kWarn, "bulk_step_failed",
                {{"message", std::string(has_more.status().message())}});
    }
    return has_more;
  }
  if (changes.cancelled > 0) {
    context_.metrics.Finished(queue, "cancelled", changes.cancelled);
  }
  context_.on_ended(changes.lane, changes.ended);
  const std::vector<store::UnleasedTasks> unleased = store::UnleasedOf(changes);
  if (!unleased.empty()) on_commit_(unleased, changes.now);
  return has_more;
}

absl::StatusOr<store::BulkProgress> BulkRunner::Work(pg::Session& session,
                                                     store::BulkCursor& cursor,
                                                     store::Changes* changes) {
  const int64_t lane = cursor.lanes.front();
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, lane));
  if (queue == nullptr) return store::QueueNotFound(cursor.filter.queue);
  const store::Step step{cursor.table, lane, cursor.after, kRowsPerStep, kChangesPerStep};
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
