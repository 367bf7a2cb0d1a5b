#include "server/broker/operate/local_operator.h"

#include <functional>
#include <string>
#include <utility>

#include "server/base/status_macros.h"
#include "server/broker/job/list_job.h"
#include "server/broker/job/list_visible.h"
#include "server/broker/operate/task_await.h"
#include "server/model/limits.h"
#include "server/store/bulk.h"

namespace skiplane::broker {

std::shared_ptr<PendingTask> LocalOperator::GetTask(GetTaskCall call, Callback<TaskDetails> done) {
  auto await = std::make_shared<TaskAwait>(context_, waiters_, call, std::move(done));
  // Not the pointer itself: it holds this function.
  await->Begin([this, call = std::move(call), await = await.get()](Callback<TaskDetails> seen) {
    SubmitList(context_.turns, TurnOf::kCall, lists_, call.party, std::move(seen),
               &TaskDetails::attempts,
               [this, &call, await](pg::Session& session) -> absl::StatusOr<TaskDetails> {
                 ASSIGN_OR_RETURN(const model::TaskId id, await->Find([&] {
                   return tasks_.Find(session, call);
                 }));
                 return tasks_.Get(session, call, id);
               });
  });
  return await;
}

void LocalOperator::ListTasks(ListTasksCall call, Callback<TaskPage> done) {
  const std::string party = call.party;
  SubmitList(
      context_.turns, TurnOf::kList, lists_, party, std::move(done), &TaskPage::tasks,
      [this, call = std::move(call)](pg::Session& session) {
        return listing_.List(session, call);
      });
}

void LocalOperator::ExplainTask(ExplainTaskCall call, Callback<Explanation> done) {
  const std::string party = call.party;
  SubmitJob(context_.turns, TurnOf::kCall, party, std::move(done),
            [this, call = std::move(call)](pg::Session& session) {
              return tasks_.Explain(session, call);
            });
}

void LocalOperator::ChangeTask(ChangeTaskCall call, Callback<model::TaskView> done) {
  absl::Status if_unknown = call.change.AddsUp() ? RepeatOrRead(call.origin) : RepeatLater();
  const std::string party = call.party;
  SubmitJob(
      context_.turns, TurnOf::kCall, party, std::move(done),
      [this, call = std::move(call)](pg::Session& session) { return tasks_.Change(session, call); },
      std::move(if_unknown));
}

void LocalOperator::CopyTask(CopyTaskCall call, Callback<model::TaskView> done) {
  absl::Status if_unknown = RepeatOrRead(call.origin);
  const std::string party = call.party;
  SubmitJob(
      context_.turns, TurnOf::kCall, party, std::move(done),
      [this, call = std::move(call)](pg::Session& session) { return copier_.Copy(session, call); },
      std::move(if_unknown));
}

void LocalOperator::ListSchedules(ListSchedulesCall call, Callback<SchedulePage> done) {
  const std::string party = call.party;
  SubmitList(context_.turns, TurnOf::kList, lists_, party, std::move(done), &SchedulePage::tasks,
             [this, call = std::move(call)](pg::Session& session) {
               return schedules_.List(session, call);
             });
}

void LocalOperator::PreviewSchedule(PreviewCall call, Callback<std::vector<absl::Time>> done) {
  PreviewMore({std::move(call), {}}, std::move(done));
}

void LocalOperator::PreviewMore(Preview preview, Callback<std::vector<absl::Time>> done) {
  const std::string party = preview.rest.party;
  Callback<Preview> seen = [this, done = std::move(done)](absl::StatusOr<Preview> more) mutable {
    if (!more.ok()) return done(more.status());
    if (more->rest.count == 0) return done(std::move(more->times));
    PreviewMore(*std::move(more), std::move(done));
  };
  SubmitJob(context_.turns, TurnOf::kCall, party, std::move(seen),
            [this, preview = std::move(preview)](pg::Session& session) -> absl::StatusOr<Preview> {
              Preview more = preview;
              RETURN_IF_ERROR(tasks_.Preview(session, &more.rest, &more.times));
              return more;
            });
}

void LocalOperator::DeleteQueue(DeleteQueueCall call, Callback<model::BulkOperation> done) {
  bulks_.DeleteQueue(std::move(call), std::move(done));
}

void LocalOperator::StartBulk(StartBulkCall call, Callback<model::BulkOperation> done) {
  bulks_.Start(std::move(call), std::move(done));
}

void LocalOperator::GetBulk(GetBulkCall call, Callback<model::BulkOperation> done) {
  bulks_.Get(call, std::move(done));
}

void LocalOperator::ListBulks(ListBulksCall call,
                              Callback<model::Page<model::BulkOperation>> done) {
  const std::string party = call.party;
  SubmitList(context_.turns, TurnOf::kList, lists_, party, std::move(done), std::identity(),
             [call = std::move(call)](pg::Session& session) {
               return ReadVisible<model::BulkOperation>(
                   call.permit, call.limit,
                   [&](const model::BulkOperation* last, int limit) {
                     return store::ListBulks(
                         session, last == nullptr ? call.before : last->create_time,
                         last == nullptr ? call.before_id : last->id, limit, model::kListBytesMax);
                   },
                   [](const model::BulkOperation& operation) -> const std::string& {
                     return operation.filter.queue;
                   });
             });
}

void LocalOperator::StopBulk(StopBulkCall call, Callback<model::BulkOperation> done) {
  bulks_.Stop(std::move(call), std::move(done));
}

}  // namespace skiplane::broker
