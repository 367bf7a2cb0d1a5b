// How bulk operations begin: by a call, once however often it is repeated.
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/job/admin_job.h"
#include "server/broker/operate/bulk_runner.h"
#include "server/broker/operate/change_once.h"
#include "server/store/queues.h"
#include "server/store/task_change.h"

namespace skiplane::broker {
namespace {

std::string HexOf(const model::SessionId& id) {
  return absl::BytesToHexString(std::string(id.begin(), id.end()));
}

// Before it is known to all brokers: what comes meanwhile is looked for once more.
absl::Status CheckMayDelete(pg::Session& session, const model::Queue& queue,
                            const DeleteQueueCall& call) {
  if (call.version.value_or(queue.version) != queue.version) return EtagMismatch(queue.name);
  if (queue.IsDeleting()) return store::QueueDeleting(queue.name);
  if (call.with_tasks) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool holds_tasks, store::HoldTasks(session, queue.lanes));
  if (!holds_tasks) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kFailedPrecondition, "QUEUE_NOT_EMPTY",
                      absl::StrCat("the queue \"", queue.name,
                                   "\" has unfinished or FAILED tasks; nothing was changed: ask "
                                   "for its deletion with_tasks, or wait until it is empty"));
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

void BulkRunner::Begin(Create create, Beginning beginning, Callback<model::BulkOperation> done) {
  Callback<Begun> read = [this, beginning,
                          done = std::move(done)](absl::StatusOr<Begun> begun) mutable {
    if (!begun.ok()) {
      done(begun.status());
      return;
    }
    // Who made steps goes on, and if it ended, who watches does.
    if (!begun->has_steps) Run(begun->id, beginning.queue);
    if (beginning.is_change) done = ReadOr(beginning.if_unread, std::move(done));
    Get({begun->id, beginning.wait, {}, beginning.party}, std::move(done));
  };
  SubmitJob(context_.turns, TurnOf::kCall, beginning.party, std::move(read), std::move(create),
            beginning.if_unread);
}

void BulkRunner::Start(StartBulkCall call, Callback<model::BulkOperation> done) {
  Beginning beginning{call.filter.queue, call.party, call.wait,
                      call.dry_run ? RepeatLater() : RepeatOrRead(call.origin), !call.dry_run};
  Begin([this, call = std::move(call)](pg::Session& session) { return CreateBulk(session, call); },
        std::move(beginning), std::move(done));
}

void BulkRunner::DeleteQueue(DeleteQueueCall call, Callback<model::BulkOperation> done) {
  Beginning beginning{call.name, call.party, call.wait, RepeatOrRead(call.origin)};
  Begin([this, call = std::move(call)](
            pg::Session& session) { return CreateDeletion(session, call); },
        std::move(beginning), std::move(done));
}

absl::StatusOr<BulkRunner::Begun> BulkRunner::BeginOnce(
    pg::Session& session, const model::Origin& origin, const model::SessionId& id,
    absl::FunctionRef<absl::StatusOr<std::string>()> create) {
  ASSIGN_OR_RETURN(const auto earlier, ChangeOnce(session, origin, create));
  if (!earlier.has_value()) return Begun{id};
  Begun begun;
  absl::c_copy_n(absl::HexStringToBytes(*earlier), begun.id.size(), begun.id.begin());
  ASSIGN_OR_RETURN(const model::BulkOperation operation, store::GetBulk(session, begun.id));
  begun.has_steps = operation.update_time != operation.create_time;
  return begun;
}

absl::StatusOr<BulkRunner::Begun> BulkRunner::CreateBulk(pg::Session& session,
                                                         const StartBulkCall& call) {
  store::NewBulk bulk;
  bulk.id = model::NewSessionId();
  bulk.filter = call.filter;
  bulk.change = call.change;
  bulk.dry_run = call.dry_run;
  bulk.actor = call.origin.actor;
  ASSIGN_OR_RETURN(const QueuePtr queue,
                   queues_.GetExisting(session, call.filter.queue, call.queue_field));
  return BeginOnce(session, call.origin, bulk.id, [&]() -> absl::StatusOr<std::string> {
    // As it is now: others may have deleted it.
    ASSIGN_OR_RETURN(const model::Queue now, store::GetQueue(session, queue->name));
    if (now.IsDeleting()) return store::QueueDeleting(now.name);
    bulk.queue_id = now.id;
    bulk.lanes = now.lanes;
    ASSIGN_OR_RETURN(bulk.stage,
                     queues_.StageOf(session, queue, call.filter.stage, "filter.stage"));
    RETURN_IF_ERROR(store::CreateBulk(session, bulk));
    if (!bulk.dry_run) RETURN_IF_ERROR(store::AddAudit(session, call.origin, queue->name, 0));
    return HexOf(bulk.id);
  });
}

absl::StatusOr<BulkRunner::Begun> BulkRunner::CreateDeletion(pg::Session& session,
                                                             const DeleteQueueCall& call) {
  store::NewBulk bulk;
  bulk.id = model::NewSessionId();
  bulk.filter.queue = call.name;
  bulk.filter.states = {.scheduled = true, .ready = true, .leased = true, .failed = true};
  bulk.change.kind = model::TaskChange::Kind::kDeleteQueue;
  bulk.change.with_tasks = call.with_tasks;
  bulk.actor = call.origin.actor;
  absl::StatusOr<Begun> begun = BeginOnce(
      session, call.origin, bulk.id, [&]() -> absl::StatusOr<std::string> {
        ASSIGN_OR_RETURN(const model::Queue queue, store::GetQueue(session, call.name));
        RETURN_IF_ERROR(CheckMayDelete(session, queue, call));
        bulk.queue_id = queue.id;
        bulk.lanes = queue.lanes;
        RETURN_IF_ERROR(store::CreateBulk(session, bulk));
        RETURN_IF_ERROR(store::BeginDeletion(session, queue, bulk.id));
        RETURN_IF_ERROR(store::AddAudit(session, call.origin, call.name, 0));
        return HexOf(bulk.id);
      });
  if (absl::IsNotFound(begun.status())) {
    return base::BlameField("QUEUE_NOT_FOUND", "name", begun.status());
  }
  RETURN_IF_ERROR(begun.status());
  QueueChanged(session, call.name);
  return begun;
}

}  // namespace skiplane::broker
