// An Operator without tasks: it keeps the last call of each kind and answers as the test sets it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "server/broker/api/operator.h"
#include "tests/rpc/fake_watcher.h"

namespace skiplane::rpc {

class FakeOperator final : public broker::Operator {
 public:
  // Set before the server starts.
  absl::Status refusal;  // if not OK: every call gets it
  model::TaskView task;
  broker::TaskPage page;
  broker::Explanation explanation;
  model::BulkOperation operation;

  // The last of each kind. Read when no call is on its way.
  broker::GetTaskCall get;
  broker::ListTasksCall list;
  broker::ChangeTaskCall change;
  broker::CopyTaskCall copy;
  broker::StartBulkCall bulk;
  broker::DeleteQueueCall deletion;
  broker::WatchCall watch;
  int calls = 0;

  std::shared_ptr<broker::PendingTask> GetTask(
      broker::GetTaskCall call, broker::Callback<broker::TaskDetails> done) override {
    get = std::move(call);
    broker::TaskDetails details;
    details.task = task;
    Answer(std::move(details), done);
    return nullptr;
  }
  void ListTasks(broker::ListTasksCall call, broker::Callback<broker::TaskPage> done) override {
    list = std::move(call);
    Answer(page, done);
  }
  void ExplainTask(broker::ExplainTaskCall, broker::Callback<broker::Explanation> done) override {
    Answer(explanation, done);
  }
  void ChangeTask(broker::ChangeTaskCall call, broker::Callback<model::TaskView> done) override {
    change = std::move(call);
    Answer(task, done);
  }
  void CopyTask(broker::CopyTaskCall call, broker::Callback<model::TaskView> done) override {
    copy = std::move(call);
    Answer(task, done);
  }
  void ListSchedules(broker::ListSchedulesCall,
                     broker::Callback<broker::SchedulePage> done) override {
    Answer(broker::SchedulePage(), done);
  }
  void PreviewSchedule(broker::PreviewCall,
                       broker::Callback<std::vector<absl::Time>> done) override {
    Answer(std::vector<absl::Time>(), done);
  }
  void DeleteQueue(broker::DeleteQueueCall call,
                   broker::Callback<model::BulkOperation> done) override {
    deletion = std::move(call);
    Answer(operation, done);
  }
  void StartBulk(broker::StartBulkCall call, broker::Callback<model::BulkOperation> done) override {
    bulk = std::move(call);
    Answer(operation, done);
  }
  void GetBulk(broker::GetBulkCall, broker::Callback<model::BulkOperation> done) override {
    Answer(operation, done);
  }
  void ListBulks(broker::ListBulksCall,
                 broker::Callback<model::Page<model::BulkOperation>> done) override {
    model::Page<model::BulkOperation> found;
    found.items.push_back(operation);
    Answer(std::move(found), done);
  }
  void StopBulk(broker::StopBulkCall, broker::Callback<model::BulkOperation> done) override {
    Answer(operation, done);
  }
  void ListErrorGroups(broker::ListErrorsCall, broker::Callback<broker::ErrorPage> done) override {
    Answer(broker::ErrorPage(), done);
  }
  void AnnotateError(broker::AnnotateErrorCall, broker::Callback<model::ErrorNote> done) override {
    Answer(model::ErrorNote(), done);
  }
  void ReadStatistics(broker::StatisticsCall, broker::Callback<broker::Statistics> done) override {
    Answer(broker::Statistics(), done);
  }
  void ListWorkers(broker::ListWorkersCall,
                   broker::Callback<std::vector<model::Worker>> done) override {
    Answer(std::vector<model::Worker>(), done);
  }
  void CommandWorker(broker::CommandWorkerCall, broker::Callback<model::Worker> done) override {
    Answer(model::Worker(), done);
  }
  void ListAudit(broker::ListAuditCall, broker::Callback<broker::AuditPage> done) override {
    Answer(broker::AuditPage(), done);
  }
  void ListSummaries(broker::ListQueuesCall,
                     broker::Callback<model::Page<broker::QueueSummary>> done) override {
    Answer(model::Page<broker::QueueSummary>(), done);
  }
  std::shared_ptr<broker::QueueWatcher> Watch(broker::WatchCall call) override {
    watch = std::move(call);
    ++calls;
    return std::make_shared<FakeWatcher>(refusal);
  }
  void ReadMinutes(broker::MinutesCall, broker::Callback<broker::MinutePage> done) override {
    Answer(broker::MinutePage(), done);
  }
  void ListBrokers(broker::ListBrokersCall, broker::Callback<broker::BrokerPage> done) override {
    Answer(broker::BrokerPage(), done);
  }
  void GetServerInfo(broker::ServerInfoCall, broker::Callback<broker::ServerReport> done) override {
    Answer(broker::ServerReport(), done);
  }

 private:
  template <typename T>
  void Answer(T answer, broker::Callback<T>& done) {
    ++calls;
    if (refusal.ok()) {
      done(std::move(answer));
    } else {
      done(refusal);
    }
  }
};

}  // namespace skiplane::rpc
