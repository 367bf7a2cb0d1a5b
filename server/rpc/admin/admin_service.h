// skiplane.v1.AdminService: what operators call. As in BrokerService, nothing blocks. Thread-safe.
// Queues are served in admin_service.cc, tasks and schedules in admin_task.cc, bulk operations in
// admin_bulk.cc, reports in admin_report.cc, who calls in admin_access.cc.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/broker/api/broker.h"
#include "server/rpc/call/call.h"
#include "skiplane/v1/admin.grpc.pb.h"

namespace skiplane::rpc {

using RawReportService =
    v1::AdminService::WithRawCallbackMethod_StartBulkOperation<
    v1::AdminService::WithRawCallbackMethod_GetBulkOperation<
    v1::AdminService::WithRawCallbackMethod_ListBulkOperations<
    v1::AdminService::WithRawCallbackMethod_StopBulkOperation<
    v1::AdminService::WithRawCallbackMethod_ListErrorGroups<
    v1::AdminService::WithRawCallbackMethod_RetryErrorGroup<
    v1::AdminService::WithRawCallbackMethod_GetStatistics<
    v1::AdminService::WithRawCallbackMethod_ListWorkers<
    v1::AdminService::WithRawCallbackMethod_ListAuditRecords<
    v1::AdminService::WithRawCallbackMethod_WhoAmI<
        v1::AdminService::Service>>>>>>>>>>;
using RawTaskService =
    v1::AdminService::WithRawCallbackMethod_PrioritizeTask<
    v1::AdminService::WithRawCallbackMethod_RescheduleTask<
    v1::AdminService::WithRawCallbackMethod_RetryTask<
    v1::AdminService::WithRawCallbackMethod_CancelTask<
    v1::AdminService::WithRawCallbackMethod_DeleteTask<
    v1::AdminService::WithRawCallbackMethod_PauseTask<
    v1::AdminService::WithRawCallbackMethod_ResumeTask<
    v1::AdminService::WithRawCallbackMethod_TriggerTask<
    v1::AdminService::WithRawCallbackMethod_PreviewSchedule<
        RawReportService>>>>>>>>>;
using RawAdminService =
    v1::AdminService::WithRawCallbackMethod_CreateQueue<
    v1::AdminService::WithRawCallbackMethod_GetQueue<
    v1::AdminService::WithRawCallbackMethod_ListQueues<
    v1::AdminService::WithRawCallbackMethod_UpdateQueue<
    v1::AdminService::WithRawCallbackMethod_PauseQueue<
    v1::AdminService::WithRawCallbackMethod_ResumeQueue<
    v1::AdminService::WithRawCallbackMethod_GetTask<
    v1::AdminService::WithRawCallbackMethod_ListTasks<
    v1::AdminService::WithRawCallbackMethod_ExplainTask<
        RawTaskService>>>>>>>>>;

class AdminService final : public RawAdminService {
 public:
  AdminService(broker::Broker& broker, CallScope scope)
      : broker_(broker), operator_(broker.AsOperator()), scope_(scope) {}

  grpc::ServerUnaryReactor* CreateQueue(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* GetQueue(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListQueues(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* UpdateQueue(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* PauseQueue(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ResumeQueue(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* GetTask(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListTasks(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ExplainTask(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* PrioritizeTask(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RescheduleTask(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RetryTask(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* CancelTask(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* DeleteTask(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* PauseTask(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ResumeTask(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* TriggerTask(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* PreviewSchedule(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* StartBulkOperation(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* GetBulkOperation(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListBulkOperations(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* StopBulkOperation(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListErrorGroups(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RetryErrorGroup(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* GetStatistics(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListAuditRecords(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;

 private:
  broker::Broker& broker_;
  broker::Operator& operator_;
  const CallScope scope_;
};

}  // namespace skiplane::rpc
