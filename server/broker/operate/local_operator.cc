#include "server/broker/operate/local_operator.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "server/base/status_macros.h"
#include "server/broker/operate/list_job.h"
#include "server/broker/operate/list_visible.h"
#include "server/broker/operate/task_await.h"
#include "server/model/limits.h"
#include "server/store/reports.h"

namespace skiplane::broker {

std::shared_ptr<PendingTask> LocalOperator::GetTask(GetTaskCall call, Callback<TaskDetails> done) {
  auto await = std::make_shared<TaskAwait>(context_, waiters_, call, std::move(done));
  // Not the pointer itself: it holds this function.
  await->Begin([this, call = std::move(call), await = await.get()](Callback<TaskDetails> seen) {
    SubmitList(looks_, lists_, call.party, std::move(seen), &TaskDetails::attempts,
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
      turns_, lists_, party, std::move(done), &TaskPage::tasks,
      [this, call = std::move(call)](pg::Session& session) { return tasks_.List(session, call); });
}

void LocalOperator::ExplainTask(ExplainTaskCall call, Callback<Explanation> done) {
  const std::string party = call.party;
  SubmitRead(looks_, party, std::move(done), [this, call = std::move(call)](pg::Session& session) {
    return tasks_.Explain(session, call);
  });
}

void LocalOperator::ChangeTask(ChangeTaskCall call, Callback<model::TaskView> done) {
  absl::Status if_unknown = call.change.AddsUp() ? RepeatOrRead(call.origin) : RepeatLater();
  SubmitJob(
      context_.pool, std::move(done),
      [this, call = std::move(call)](pg::Session& session) { return tasks_.Change(session, call); },
      std::move(if_unknown));
}

void LocalOperator::PreviewSchedule(PreviewCall call, Callback<std::vector<absl::Time>> done) {
  const std::string party = call.party;
  SubmitRead(looks_, party, std::move(done), [this, call = std::move(call)](pg::Session& session) {
    return tasks_.Preview(session, call);
  });
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
  SubmitList(turns_, lists_, party, std::move(done), std::identity(),
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

void LocalOperator::ListErrorGroups(ListErrorsCall call, Callback<ErrorPage> done) {
  const std::string party = call.party;
  SubmitList(
      turns_, lists_, party, std::move(done), &ErrorPage::groups,
      [this, call = std::move(call)](pg::Session& session) { return ReadErrors(session, call); });
}

absl::StatusOr<ErrorPage> LocalOperator::ReadErrors(pg::Session& session,
                                                    const ListErrorsCall& call) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.GetExisting(session, call.queue, "queue"));
  ASSIGN_OR_RETURN(const auto stage, queues_.StageOf(session, queue, call.stage, "stage"));
  ErrorPage page;
  ASSIGN_OR_RETURN(page.groups,
                   store::ListErrorGroups(
                       session, queue->lanes, stage,
                       {call.seen_micros, call.after_stage, call.after_fingerprint}, call.limit,
                       model::kListBytesMax));
  for (const model::ErrorGroup& group : page.groups.items) {
    page.stages.push_back(queue->settings.StageName(group.stage));
  }
  return page;
}

void LocalOperator::ReadStatistics(StatisticsCall call, Callback<Statistics> done) {
  const std::string party = call.party;
  SubmitList(
      turns_, lists_, party, std::move(done), &Statistics::hours,
      [this, call = std::move(call)](pg::Session& session) { return ReadHours(session, call); });
}

absl::StatusOr<Statistics> LocalOperator::ReadHours(pg::Session& session,
                                                    const StatisticsCall& call) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.GetExisting(session, call.queue, "queue"));
  store::StatisticsRange range;
  ASSIGN_OR_RETURN(range.stage, queues_.StageOf(session, queue, call.stage, "stage"));
  range.outcome = call.outcome;
  // A range that is left open ends with what there is: no hour begins later than now.
  range.end = call.end.value_or(absl::InfiniteFuture());
  range.start = call.start.value_or(absl::Now() - absl::Hours(24));
  range.start = std::max(range.start, call.after_hour);
  range.after_hour = call.after_hour;
  range.after_stage = call.after_stage;
  range.after_outcome = call.after_outcome;
  Statistics statistics;
  ASSIGN_OR_RETURN(statistics.hours, store::ReadStatistics(session, queue->lanes, range,
                                                           model::kStatisticsHoursMax));
  for (const model::HourStatistics& hour : statistics.hours.items) {
    statistics.stages.push_back(queue->settings.StageName(hour.stage));
  }
  return statistics;
}

void LocalOperator::ListWorkers(ListWorkersCall call, Callback<std::vector<model::Worker>> done) {
  const std::string party = call.party;
  SubmitRead(turns_, party, std::move(done), [call = std::move(call)](pg::Session& session) {
    return store::ListWorkers(session, call.after_name, call.after_handle, call.limit);
  });
}

void LocalOperator::ListAudit(ListAuditCall call, Callback<model::Page<model::AuditRecord>> done) {
  const std::string party = call.party;
  SubmitList(turns_, lists_, party, std::move(done), std::identity(),
             [call = std::move(call)](pg::Session& session) {
               return store::ListAudit(session, call.queue, call.before, call.limit,
                                       model::kListBytesMax);
             });
}

}  // namespace skiplane::broker
