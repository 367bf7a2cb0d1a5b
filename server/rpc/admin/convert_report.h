// Reports for operators between the wire and the broker. Pure functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

absl::StatusOr<broker::ListErrorsCall> ReadListErrors(v1::ListErrorGroupsRequest* request);
void WriteErrorGroup(model::ErrorGroup* group, const std::string& stage, v1::ErrorGroup* wire);

absl::StatusOr<broker::StatisticsCall> ReadStatistics(v1::GetStatisticsRequest* request);
void WriteStatistics(broker::Statistics* statistics, v1::GetStatisticsResponse* response);

absl::StatusOr<broker::ListWorkersCall> ReadListWorkers(v1::ListWorkersRequest* request);
void WriteWorker(const model::Worker& worker, v1::Worker* wire);

absl::StatusOr<broker::ListAuditCall> ReadListAudit(v1::ListAuditRecordsRequest* request);
void WriteAuditRecord(const model::AuditRecord& record, v1::AuditRecord* wire);

}  // namespace skiplane::rpc
