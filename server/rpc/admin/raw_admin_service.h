// skiplane.v1.AdminService with every method as bytes in and out: calls are counted by their size
// before they are read.
#pragma once

#include "skiplane/v1/admin.grpc.pb.h"

namespace skiplane::rpc {

using RawServerService =
    v1::AdminService::WithRawCallbackMethod_ListQueueSummaries<
    v1::AdminService::WithRawCallbackMethod_AnnotateErrorGroup<
    v1::AdminService::WithRawCallbackMethod_CopyTask<
    v1::AdminService::WithRawCallbackMethod_MoveTask<
    v1::AdminService::WithRawCallbackMethod_ListSchedules<
    v1::AdminService::WithRawCallbackMethod_GetMinuteStatistics<
    v1::AdminService::WithRawCallbackMethod_ListBrokers<
    v1::AdminService::WithRawCallbackMethod_GetServerInfo<
    v1::AdminService::WithRawCallbackMethod_WhoAmI<
    v1::AdminService::WithRawCallbackMethod_Watch<
        v1::AdminService::Service>>>>>>>>>>;
using RawReportService =
    v1::AdminService::WithRawCallbackMethod_StartBulkOperation<
    v1::AdminService::WithRawCallbackMethod_GetBulkOperation<
    v1::AdminService::WithRawCallbackMethod_ListBulkOperations<
    v1::AdminService::WithRawCallbackMethod_StopBulkOperation<
    v1::AdminService::WithRawCallbackMethod_ListErrorGroups<
    v1::AdminService::WithRawCallbackMethod_RetryErrorGroup<
    v1::AdminService::WithRawCallbackMethod_GetStatistics<
    v1::AdminService::WithRawCallbackMethod_ListWorkers<
    v1::AdminService::WithRawCallbackMethod_CommandWorker<
    v1::AdminService::WithRawCallbackMethod_ListAuditRecords<
        RawServerService>>>>>>>>>>;
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
    v1::AdminService::WithRawCallbackMethod_DeleteQueue<
    v1::AdminService::WithRawCallbackMethod_GetTask<
    v1::AdminService::WithRawCallbackMethod_ListTasks<
    v1::AdminService::WithRawCallbackMethod_ExplainTask<
        RawTaskService>>>>>>>>>>;

}  // namespace skiplane::rpc
