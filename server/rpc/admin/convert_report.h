// Reports for operators between the wire and the broker. Pure functions. `scope` is what the token
// of the next page is good for (list_token.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

absl::StatusOr<broker::ListErrorsCall> ReadListErrors(v1::ListErrorGroupsRequest* request);
void WriteErrorGroups(broker::ErrorPage* page, const std::string& scope,
                      v1::ListErrorGroupsResponse* response);

absl::StatusOr<broker::AnnotateErrorCall> ReadAnnotateError(
    v1::AnnotateErrorGroupRequest* request);
void WriteAnnotateError(model::ErrorNote* note, v1::AnnotateErrorGroupResponse* response);

absl::StatusOr<broker::StatisticsCall> ReadStatistics(v1::GetStatisticsRequest* request);
void WriteStatistics(broker::Statistics* statistics, const std::string& scope,
                     v1::GetStatisticsResponse* response);

absl::StatusOr<broker::ListWorkersCall> ReadListWorkers(v1::ListWorkersRequest* request);
// Those beyond `limit` only tell that there is a next page.
void WriteWorkers(std::vector<model::Worker>* workers, size_t limit,
                  v1::ListWorkersResponse* response);

absl::StatusOr<broker::CommandWorkerCall> ReadCommandWorker(v1::CommandWorkerRequest* request);
void WriteCommandWorker(model::Worker* worker, v1::CommandWorkerResponse* response);

absl::StatusOr<broker::ListAuditCall> ReadListAudit(v1::ListAuditRecordsRequest* request);
void WriteAudit(broker::AuditPage* page, const std::string& scope,
                v1::ListAuditRecordsResponse* response);

}  // namespace skiplane::rpc
