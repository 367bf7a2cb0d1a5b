#include "server/broker/operate/queue_admin.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/base/timer.h"
#include "server/broker/job/list_job.h"
#include "server/broker/job/list_visible.h"
#include "server/broker/observe/age_probe.h"
#include "server/broker/observe/queue_summaries.h"
#include "server/broker/operate/change_once.h"
#include "server/store/counts.h"
#include "server/store/queues.h"
#include "server/store/task_change.h"

namespace skiplane::broker {
namespace {

// Another change came between reading the queue and writing it: to be done again.
absl::Status Overtaken(const std::string& name) {
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      absl::StrCat("queue \"", name, "\" is changed by others: call again"));
}

// QUEUE_EXISTS unless the queue that exists is as asked for.
absl::Status CheckIsSame(pg::Session& session, const CreateQueueCall& call) {
  ASSIGN_OR_RETURN(const model::Queue queue, store::GetQueue(session, call.name));
  if (queue.IsDeleting()) return store::QueueDeleting(call.name);
  const bool is_same =
      (!call.settings || queue.settings == *call.settings) &&
      (!call.lane_count || queue.lanes.size() == static_cast<size_t>(*call.lane_count));
  if (is_same) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kAlreadyExists, "QUEUE_EXISTS",
                      absl::StrCat("queue \"", call.name,
                                   "\" exists with other settings or another lane_count: "
                                   "UpdateQueue (skiplane queues update) changes settings"));
}

// Whether it was made; false if there is one of this name, which takes nothing of `new_queues`.
absl::StatusOr<bool> MakeUnlessThere(pg::Session& session, const CreateQueueCall& call,
                                     NewQueues& new_queues) {
  const absl::Status room = new_queues.Take(call.principal, std::chrono::steady_clock::now());
  if (!room.ok()) {
    const absl::Status there = store::GetQueue(session, call.name).status();
    if (there.ok()) return false;
    return absl::IsNotFound(there) ? room : there;
  }
  const absl::StatusOr<bool> is_new = store::CreateQueue(
      session, call.name, call.settings.value_or(model::QueueSettings()),
      call.lane_count.value_or(1));
  if (!is_new.ok() || !*is_new) new_queues.GiveBack(call.principal);
  return is_new;
}

absl::Status RunCreate(pg::Session& session, const CreateQueueCall& call, NewQueues& new_queues) {
  const auto create = [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const bool is_new, MakeUnlessThere(session, call, new_queues));
    if (is_new) RETURN_IF_ERROR(store::AddAudit(session, call.origin, call.name, 0));
    if (!is_new) RETURN_IF_ERROR(CheckIsSame(session, call));
    return "";
  };
  return ChangeOnce(session, call.origin, create).status();
}

absl::Status RunUpdate(pg::Session& session, UpdateQueueCall& call) {
  const auto update = [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const model::Queue queue, store::GetQueue(session, call.name));
    if (call.version.value_or(queue.version) != queue.version) return EtagMismatch(call.name);
    if (queue.IsDeleting()) return store::QueueDeleting(call.name);
    ASSIGN_OR_RETURN(const model::QueueSettings settings, call.change(queue.settings));
    ASSIGN_OR_RETURN(const bool is_done,
                     store::UpdateQueue(session, call.name, queue.version, settings));
    if (!is_done) return Overtaken(call.name);
    RETURN_IF_ERROR(store::AddAudit(session, call.origin, call.name, 0));
    return "";
  };
  return ChangeOnce(session, call.origin, update).status();
}

absl::Status RunPause(pg::Session& session, const PauseQueueCall& call) {
  const std::string reason = call.mode == model::PauseMode::kNone ? "" : call.reason;
  const auto pause = [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const bool is_done,
                     store::PauseQueue(session, call.name, call.mode, reason));
    if (!is_done) {
      RETURN_IF_ERROR(store::GetQueue(session, call.name).status());
      return store::QueueDeleting(call.name);
    }
    RETURN_IF_ERROR(store::AddAudit(session, call.origin, call.name, 0));
    return "";
  };
  return ChangeOnce(session, call.origin, pause).status();
}

}  // namespace

void QueueAdmin::Create(CreateQueueCall call, Callback<model::Queue> done) {
  const std::string name = call.name;
  const std::string party = call.party;
  SubmitChange(
      context_.turns, party, std::move(done),
      [this, call = std::move(call)](pg::Session& session) {
        return RunCreate(session, call, new_queues_);
      },
      [this, name](pg::Session& session) { return Changed(session, name); });
}

void QueueAdmin::Get(GetQueueCall call, Callback<QueueWithCounts> done) {
  SubmitJob(context_.turns, TurnOf::kCall, call.party, std::move(done),
            [this, name = std::move(call.name)](pg::Session& session) {
              return RunGet(session, name);
            });
}

absl::StatusOr<QueueWithCounts> QueueAdmin::RunGet(pg::Session& session, const std::string& name) {
  ASSIGN_OR_RETURN(model::Queue queue, store::GetQueue(session, name));
  ASSIGN_OR_RETURN(const store::Counts counts, store::ReadCounts(session, queue.lanes));
  QueueWithCounts answer = WithCounts(std::move(queue), counts);
  const base::SteadyTime end = std::chrono::steady_clock::now() + kTurn;
  for (size_t stage = 0; stage < answer.stages.size(); ++stage) {
    for (const int64_t lane : answer.queue.lanes) {
      const model::LaneStage lane_stage{lane, static_cast<int16_t>(stage)};
      const auto found = counts.find(lane_stage);
      if (found == counts.end() || found->second.ready == 0) continue;
      if (std::chrono::steady_clock::now() > end) return answer;
      absl::Duration& age = answer.stages[stage].oldest_ready_age;
      age = std::max(age, OldestReadyAge(session, lane_stage, end));
    }
  }
  return answer;
}

void QueueAdmin::List(ListQueuesCall call, Callback<model::Page<model::Queue>> done) {
  const std::string party = call.party;
  SubmitList(context_.turns, TurnOf::kList, lists_, party, std::move(done), std::identity(),
             [call = std::move(call)](pg::Session& session) {
               return ReadVisible<model::Queue>(
                   call.permit, call.limit,
                   [&](const model::Queue* last, int limit) {
                     return store::ListQueuePage(session, last == nullptr ? call.after : last->name,
                                                 limit, model::kListBytesMax);
                   },
                   [](const model::Queue& queue) -> const std::string& { return queue.name; });
             });
}

void QueueAdmin::Update(UpdateQueueCall call, Callback<model::Queue> done) {
  const std::string name = call.name;
  const std::string party = call.party;
  SubmitChange(
      context_.turns, party, std::move(done),
      [call = std::move(call)](pg::Session& session) mutable { return RunUpdate(session, call); },
      [this, name](pg::Session& session) { return Changed(session, name); });
}

void QueueAdmin::Pause(PauseQueueCall call, Callback<model::Queue> done) {
  const std::string name = call.name;
  const std::string party = call.party;
  SubmitChange(
      context_.turns, party, std::move(done),
      [call = std::move(call)](pg::Session& session) { return RunPause(session, call); },
      [this, name](pg::Session& session) { return Changed(session, name); });
}

// This broker acts on the change at once, the others when they hear of it.
absl::StatusOr<model::Queue> QueueAdmin::Changed(pg::Session& session, const std::string& name) {
  notifier_.QueuesChanged();
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.Reload(session, name));
  return *queue;
}

}  // namespace skiplane::broker
