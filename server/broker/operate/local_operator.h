// The Operator of this process: does what operators ask for. Its reports are in local_reports.cc.
// Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/broker/api/operator.h"
#include "server/broker/await/task_waiters.h"
#include "server/broker/batch/answer_memory.h"
#include "server/broker/batch/context.h"
#include "server/broker/observe/queue_watch.h"
#include "server/broker/observe/watchers.h"
#include "server/broker/operate/bulk_runner.h"
#include "server/broker/operate/schedule_listing.h"
#include "server/broker/operate/task_copier.h"
#include "server/broker/operate/task_listing.h"
#include "server/broker/operate/task_operator.h"

namespace skiplane::broker {

// The broker of this process.
struct OwnBroker {
  model::SessionId id{};
  std::string name;
  std::string version;
  std::string commit;
  int connections = 0;
};

class LocalOperator : public Operator {
 public:
  LocalOperator(Context& context, QueueCache& queues, const Dispatcher& dispatcher,
                Enqueuer& enqueuer, const QueueWatch& watch, OwnBroker own,
                AnswerMemory& lists, TaskWaiters& waiters, BulkRunner::Listeners listeners)
      : context_(context),
        watch_(watch),
        own_(std::move(own)),
        queues_(queues),
        lists_(lists),
        waiters_(waiters),
        tasks_(context, queues, dispatcher, listeners.on_commit),
        copier_(context, queues, enqueuer),
        listing_(queues),
        schedules_(queues),
        bulks_(context, queues, std::move(listeners)),
        watchers_(context, watch, lists) {}

  // Begins to take over the bulk operations of brokers that ended.
  void Start() { bulks_.Watch(); }

  // From now on calls that wait for an end, of a bulk operation or a task, are answered as it is.
  void BeginDrain() {
    bulks_.EndWaits();
    waiters_.End();
  }
  // Who watches is told no more.
  void EndWatches() { watchers_.Stop(); }

  std::shared_ptr<PendingTask> GetTask(GetTaskCall call, Callback<TaskDetails> done) override;
  void ListTasks(ListTasksCall call, Callback<TaskPage> done) override;
  void ExplainTask(ExplainTaskCall call, Callback<Explanation> done) override;
  void ChangeTask(ChangeTaskCall call, Callback<model::TaskView> done) override;
  void CopyTask(CopyTaskCall call, Callback<model::TaskView> done) override;
  void ListSchedules(ListSchedulesCall call, Callback<SchedulePage> done) override;
  void PreviewSchedule(PreviewCall call, Callback<std::vector<absl::Time>> done) override;
  void DeleteQueue(DeleteQueueCall call, Callback<model::BulkOperation> done) override;
  void StartBulk(StartBulkCall call, Callback<model::BulkOperation> done) override;
  void GetBulk(GetBulkCall call, Callback<model::BulkOperation> done) override;
  void ListBulks(ListBulksCall call, Callback<model::Page<model::BulkOperation>> done) override;
  void StopBulk(StopBulkCall call, Callback<model::BulkOperation> done) override;
  void ListErrorGroups(ListErrorsCall call, Callback<ErrorPage> done) override;
  void AnnotateError(AnnotateErrorCall call, Callback<model::ErrorNote> done) override;
  void ReadStatistics(StatisticsCall call, Callback<Statistics> done) override;
  void ListWorkers(ListWorkersCall call, Callback<std::vector<model::Worker>> done) override;
  void CommandWorker(CommandWorkerCall call, Callback<model::Worker> done) override;
  void ListAudit(ListAuditCall call, Callback<AuditPage> done) override;
  void ListSummaries(ListQueuesCall call, Callback<model::Page<QueueSummary>> done) override;
  std::shared_ptr<QueueWatcher> Watch(WatchCall call) override {
    return watchers_.Add(std::move(call));
  }
  void ReadMinutes(MinutesCall call, Callback<MinutePage> done) override;
  void ListBrokers(ListBrokersCall call, Callback<BrokerPage> done) override;
  void GetServerInfo(ServerInfoCall call, Callback<ServerReport> done) override;

 private:
  // Times of a schedule that have been found, and what is still asked for.
  struct Preview {
    PreviewCall rest;
    std::vector<absl::Time> times;
  };
  void PreviewMore(Preview preview, Callback<std::vector<absl::Time>> done);
  absl::StatusOr<ErrorPage> ReadErrors(pg::Session& session, const ListErrorsCall& call);
  absl::StatusOr<model::ErrorNote> Annotate(pg::Session& session, const AnnotateErrorCall& call);
  absl::StatusOr<Statistics> ReadHours(pg::Session& session, const StatisticsCall& call);
  absl::StatusOr<MinutePage> ReadTimes(pg::Session& session, const MinutesCall& call);
  absl::StatusOr<model::Page<QueueSummary>> Summarize(pg::Session& session,
                                                      const ListQueuesCall& call);
  absl::StatusOr<std::vector<model::Worker>> ReadWorkers(pg::Session& session,
                                                         const ListWorkersCall& call);
  absl::Status AddQueues(pg::Session& session, model::Worker* worker);
  absl::StatusOr<ServerReport> ReadInfo(pg::Session& session);

  Context& context_;
  const QueueWatch& watch_;
  const OwnBroker own_;
  const base::SteadyTime began_ = std::chrono::steady_clock::now();
  QueueCache& queues_;
  AnswerMemory& lists_;
  TaskWaiters& waiters_;
  TaskOperator tasks_;
  TaskCopier copier_;
  TaskListing listing_;
  ScheduleListing schedules_;
  BulkRunner bulks_;
  Watchers watchers_;
};

}  // namespace skiplane::broker
