#include "server/broker/queue_admin.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/refusals.h"
#include "server/store/counts.h"
#include "server/store/queues.h"
#include "server/store/task_view.h"

namespace skiplane::broker {
namespace {

constexpr int kUpdateTriesMax = 5;

// Every admin call may be repeated: an unknown outcome says so.
template <typename Answer, typename Work>
void Submit(pg::Pool& pool, Done<Answer> done, Work work) {
  pool.Submit([done = std::move(done),
               work = std::move(work)](absl::StatusOr<pg::Session*> session) mutable {
    if (!session.ok()) {
      done(session.status());
      return;
    }
    absl::StatusOr<Answer> answer = work(**session);
    if (IsOutcomeUnknown(answer.status())) answer = RepeatLater();
    done(std::move(answer));
  });
}

}  // namespace

void QueueAdmin::Create(CreateQueueCall call, Done<model::Queue> done) {
  Submit(context_.pool, std::move(done), [this, call = std::move(call)](pg::Session& session) {
    return RunCreate(session, call);
  });
}

absl::StatusOr<model::Queue> QueueAdmin::RunCreate(pg::Session& session,
                                                   const CreateQueueCall& call) {
  ASSIGN_OR_RETURN(const bool made,
                   store::CreateQueue(session, call.name, call.settings, call.lanes));
  ASSIGN_OR_RETURN(model::Queue queue, Changed(session, call.name));
  const bool is_same = queue.settings == call.settings &&
                       queue.lanes.size() == static_cast<size_t>(call.lanes);
  if (made || is_same) return queue;
  return base::Refuse(absl::StatusCode::kAlreadyExists, "QUEUE_ALREADY_EXISTS",
                      absl::StrCat("queue \"", call.name,
                                   "\" exists with other settings: change them with UpdateQueue"));
}

void QueueAdmin::Get(std::string name, Done<QueueWithCounts> done) {
  Submit(context_.pool, std::move(done), [this, name = std::move(name)](pg::Session& session) {
    return RunGet(session, name);
  });
}

absl::StatusOr<QueueWithCounts> QueueAdmin::RunGet(pg::Session& session, const std::string& name) {
  QueueWithCounts answer;
  ASSIGN_OR_RETURN(answer.queue, store::GetQueue(session, name));
  ASSIGN_OR_RETURN(const auto counts, store::ReadCounts(session));
  for (const int64_t lane : answer.queue.lanes) {
    const auto found = counts.find(lane);
    if (found == counts.end()) continue;
    answer.counts.scheduled += found->second.scheduled;
    answer.counts.ready += found->second.ready;
    answer.counts.leased += found->second.leased;
    answer.counts.succeeded += found->second.succeeded;
    answer.counts.failed += found->second.failed;
  }
  return answer;
}

void QueueAdmin::List(std::string after, int limit, Done<std::vector<model::Queue>> done) {
  Submit(context_.pool, std::move(done),
         [after = std::move(after), limit](pg::Session& session) {
           return store::ListQueues(session, after, limit);
         });
}

void QueueAdmin::Update(UpdateQueueCall call, Done<model::Queue> done) {
  Submit(context_.pool, std::move(done),
         [this, call = std::move(call)](pg::Session& session) mutable {
           return RunUpdate(session, call);
         });
}

absl::StatusOr<model::Queue> QueueAdmin::RunUpdate(pg::Session& session, UpdateQueueCall& call) {
  const absl::Status mismatch = base::Refuse(
      absl::StatusCode::kAborted, "ETAG_MISMATCH",
      absl::StrCat("queue \"", call.name, "\" changed since it was read: read it again"));
  for (int tries = 0; tries < kUpdateTriesMax; ++tries) {
    ASSIGN_OR_RETURN(const model::Queue queue, store::GetQueue(session, call.name));
    if (call.version.has_value() && *call.version != queue.version) return mismatch;
    ASSIGN_OR_RETURN(const model::QueueSettings settings, call.change(queue.settings));
    ASSIGN_OR_RETURN(const bool changed,
                     store::UpdateQueue(session, call.name, queue.version, settings));
    if (changed) return Changed(session, call.name);
  }
  return mismatch;
}

void QueueAdmin::Pause(PauseQueueCall call, Done<model::Queue> done) {
  Submit(context_.pool, std::move(done), [this, call = std::move(call)](pg::Session& session) {
    return RunPause(session, call);
  });
}

absl::StatusOr<model::Queue> QueueAdmin::RunPause(pg::Session& session,
                                                  const PauseQueueCall& call) {
  const std::string reason = call.mode == model::PauseMode::kNone ? "" : call.reason;
  RETURN_IF_ERROR(store::PauseQueue(session, call.name, call.mode, reason).status());
  return Changed(session, call.name);
}

void QueueAdmin::GetTask(model::TaskId id, Done<model::TaskView> done) {
  Submit(context_.pool, std::move(done),
         [this, id](pg::Session& session) { return RunGetTask(session, id); });
}

absl::StatusOr<model::TaskView> QueueAdmin::RunGetTask(pg::Session& session,
                                                       const model::TaskId& id) {
  ASSIGN_OR_RETURN(model::TaskView task, store::GetTask(session, id));
  QueuePtr queue = queues_.OfLane(id.lane);
  if (queue == nullptr) {
    RETURN_IF_ERROR(queues_.ReloadAll(session));
    queue = queues_.OfLane(id.lane);
  }
  if (queue != nullptr) task.queue = queue->name;
  return task;
}

// This broker acts on the change at once, the others when they hear of it.
absl::StatusOr<model::Queue> QueueAdmin::Changed(pg::Session& session, const std::string& name) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.Reload(session, name));
  hinter_.QueuesChanged();
  return *queue;
}

}  // namespace skiplane::broker
