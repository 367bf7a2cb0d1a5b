// skiplane.v1.AdminService: what operators call. As in BrokerService, nothing blocks. Thread-safe.
// Queues are served and watched in admin_service.cc, tasks and schedules in admin_task.cc, bulk
// operations in admin_bulk.cc, reports in admin_report.cc, brokers in admin_server.cc, who calls in
// admin_access.cc.
#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "server/broker/api/broker.h"
#include "server/model/limits.h"
#include "server/rpc/admin/raw_admin_service.h"
#include "server/rpc/call/call.h"
#include "server/rpc/stream/stream_set.h"

namespace skiplane::rpc {

class AdminService final : public RawAdminService {
 public:
  using Reactor = grpc::ServerUnaryReactor;
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;

  AdminService(broker::Broker& broker, CallScope scope)
      : broker_(broker),
        operator_(broker.AsOperator()),
        scope_(scope),
        streams_(std::min(scope.stream_age, model::kWatchMax)) {}

  Reactor* CreateQueue(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* GetQueue(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListQueues(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* UpdateQueue(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* PauseQueue(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ResumeQueue(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* DeleteQueue(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* GetTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListTasks(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ExplainTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* PrioritizeTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* RescheduleTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* RetryTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* CopyTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* MoveTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListSchedules(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* CancelTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* DeleteTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* PauseTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ResumeTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* TriggerTask(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* PreviewSchedule(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* StartBulkOperation(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* GetBulkOperation(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListBulkOperations(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* StopBulkOperation(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListErrorGroups(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* RetryErrorGroup(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* AnnotateErrorGroup(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* GetStatistics(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListWorkers(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* CommandWorker(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListAuditRecords(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListQueueSummaries(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* GetMinuteStatistics(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* ListBrokers(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* GetServerInfo(Context* context, const Bytes* request, Bytes* reply) override;
  Reactor* WhoAmI(Context* context, const Bytes* request, Bytes* reply) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Watch(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request) override;

  // The server shuts down: streams end.
  void DrainStreams() { streams_.Drain(); }

 private:
  broker::Broker& broker_;
  broker::Operator& operator_;
  const CallScope scope_;
  StreamSet streams_;
};

}  // namespace skiplane::rpc
