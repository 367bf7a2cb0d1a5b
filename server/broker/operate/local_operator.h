// The Operator of this process: does what operators ask for. Thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "server/broker/api/operator.h"
#include "server/broker/await/task_waiters.h"
#include "server/broker/batch/answer_memory.h"
#include "server/broker/batch/context.h"
#include "server/broker/operate/bulk_runner.h"
#include "server/broker/operate/list_turns.h"
#include "server/broker/operate/task_operator.h"

namespace skiplane::broker {

class LocalOperator : public Operator {
 public:
  LocalOperator(Context& context, QueueCache& queues, const Dispatcher& dispatcher,
                ListTurns& turns, ListTurns& looks, AnswerMemory& lists, TaskWaiters& waiters,
                TaskOperator::OnCommit on_commit)
      : context_(context),
        queues_(queues),
        turns_(turns),
        looks_(looks),
        lists_(lists),
        waiters_(waiters),
        tasks_(context, queues, dispatcher, on_commit),
        bulks_(context, queues, on_commit) {}

  // Begins to take over the bulk operations of brokers that ended.
  void Start() { bulks_.Watch(); }

  // From now on calls that wait for an end, of a bulk operation or a task, are answered as it is.
  void BeginDrain() {
    bulks_.EndWaits();
    waiters_.End();
  }

  std::shared_ptr<PendingTask> GetTask(GetTaskCall call, Callback<TaskDetails> done) override;
  void ListTasks(ListTasksCall call, Callback<TaskPage> done) override;
  void ExplainTask(ExplainTaskCall call, Callback<Explanation> done) override;
  void ChangeTask(ChangeTaskCall call, Callback<model::TaskView> done) override;
  void PreviewSchedule(PreviewCall call, Callback<std::vector<absl::Time>> done) override;
  void StartBulk(StartBulkCall call, Callback<model::BulkOperation> done) override;
  void GetBulk(GetBulkCall call, Callback<model::BulkOperation> done) override;
  void ListBulks(ListBulksCall call, Callback<model::Page<model::BulkOperation>> done) override;
  void StopBulk(StopBulkCall call, Callback<model::BulkOperation> done) override;
  void ListErrorGroups(ListErrorsCall call, Callback<ErrorPage> done) override;
  void ReadStatistics(StatisticsCall call, Callback<Statistics> done) override;
  void ListWorkers(ListWorkersCall call, Callback<std::vector<model::Worker>> done) override;
  void ListAudit(ListAuditCall call, Callback<model::Page<model::AuditRecord>> done) override;

 private:
  absl::StatusOr<ErrorPage> ReadErrors(pg::Session& session, const ListErrorsCall& call);
  absl::StatusOr<Statistics> ReadHours(pg::Session& session, const StatisticsCall& call);

  Context& context_;
  QueueCache& queues_;
  ListTurns& turns_;  // of lists
  ListTurns& looks_;  // at one task, which are short: they wait behind no list
  AnswerMemory& lists_;
  TaskWaiters& waiters_;
  TaskOperator tasks_;
  BulkRunner bulks_;
};

}  // namespace skiplane::broker
