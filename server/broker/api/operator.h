// What operators do with tasks: look at them, change them one by one or in bulk, and read reports.
// Every method returns at once and answers through `done`, exactly once, on a thread of the broker.
// Changes leave an audit record in their transaction. An answer with a list weighs at most
// model::kListBytesMax; TOO_MANY_CALLS while too many of them have not reached their readers.
// Thread-safe. Knows no gRPC.
#pragma once

#include <memory>

#include "server/broker/api/operator_calls.h"
#include "server/broker/api/watch_calls.h"

namespace skiplane::broker {

// A GetTask on its way. Cancel() may be called at any time from any thread, once or more, also
// after the answer: the caller vanished, so the call waits no more, and `done` is called soon.
class PendingTask {
 public:
  virtual ~PendingTask() = default;
  virtual void Cancel() = 0;
};

class Operator {
 public:
  virtual ~Operator() = default;

  // With a wait: when the task has ended, or with the task as it is when the time is over.
  virtual std::shared_ptr<PendingTask> GetTask(GetTaskCall call, Callback<TaskDetails> done) = 0;
  virtual void ListTasks(ListTasksCall call, Callback<TaskPage> done) = 0;
  virtual void ExplainTask(ExplainTaskCall call, Callback<Explanation> done) = 0;
  // Answers with the task as it is afterwards. WRONG_STATE if its state does not allow the change.
  virtual void ChangeTask(ChangeTaskCall call, Callback<model::TaskView> done) = 0;
  // Answers with the new task.
  virtual void CopyTask(CopyTaskCall call, Callback<model::TaskView> done) = 0;
  virtual void ListSchedules(ListSchedulesCall call, Callback<SchedulePage> done) = 0;
  virtual void PreviewSchedule(PreviewCall call, Callback<std::vector<absl::Time>> done) = 0;

  virtual void DeleteQueue(DeleteQueueCall call, Callback<model::BulkOperation> done) = 0;
  virtual void StartBulk(StartBulkCall call, Callback<model::BulkOperation> done) = 0;
  virtual void GetBulk(GetBulkCall call, Callback<model::BulkOperation> done) = 0;
  virtual void ListBulks(ListBulksCall call, Callback<model::Page<model::BulkOperation>> done) = 0;
  virtual void StopBulk(StopBulkCall call, Callback<model::BulkOperation> done) = 0;

  virtual void ListErrorGroups(ListErrorsCall call, Callback<ErrorPage> done) = 0;
  virtual void AnnotateError(AnnotateErrorCall call, Callback<model::ErrorNote> done) = 0;
  virtual void ReadStatistics(StatisticsCall call, Callback<Statistics> done) = 0;
  virtual void ListWorkers(ListWorkersCall call, Callback<std::vector<model::Worker>> done) = 0;
  // WORKER_NOT_FOUND if none of this handle lives. Answers with the worker as it is afterwards;
  // with its handle alone if its session has ended meanwhile.
  virtual void CommandWorker(CommandWorkerCall call, Callback<model::Worker> done) = 0;
  virtual void ListAudit(ListAuditCall call, Callback<AuditPage> done) = 0;

  virtual void ListSummaries(ListQueuesCall call, Callback<model::Page<QueueSummary>> done) = 0;
  // Answers by what it returns, which is to end before this object goes.
  virtual std::shared_ptr<QueueWatcher> Watch(WatchCall call) = 0;
  virtual void ReadMinutes(MinutesCall call, Callback<MinutePage> done) = 0;
  virtual void ListBrokers(ListBrokersCall call, Callback<BrokerPage> done) = 0;
  virtual void GetServerInfo(ServerInfoCall call, Callback<ServerReport> done) = 0;
};

}  // namespace skiplane::broker
