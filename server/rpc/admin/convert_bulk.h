// Bulk operations between the wire and the broker. Pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "server/rpc/call/field.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

// At most 10 years ahead; in the past it means now.
absl::StatusOr<absl::Time> ReadStartTime(const google::protobuf::Timestamp& wire,
                                         const Field& field);
absl::StatusOr<absl::Duration> ReadPostpone(const google::protobuf::Duration& wire,
                                            const Field& field);

absl::StatusOr<broker::StartBulkCall> ReadStartBulk(v1::StartBulkOperationRequest* request);
absl::StatusOr<broker::StartBulkCall> ReadRetryGroup(v1::RetryErrorGroupRequest* request);
absl::StatusOr<broker::DeleteQueueCall> ReadDeleteQueue(v1::DeleteQueueRequest* request);
absl::StatusOr<broker::GetBulkCall> ReadGetBulk(v1::GetBulkOperationRequest* request);
absl::StatusOr<broker::StopBulkCall> ReadStopBulk(v1::StopBulkOperationRequest* request);
absl::StatusOr<broker::ListBulksCall> ReadListBulks(v1::ListBulkOperationsRequest* request);

std::string WriteOperationId(const model::SessionId& id);
void WriteBulk(const model::BulkOperation& operation, v1::BulkOperation* wire);

// For every response that is just the operation as it is now.
template <typename Response>
void WriteOperation(model::BulkOperation* operation, Response* response) {
  WriteBulk(*operation, response->mutable_operation());
}

}  // namespace skiplane::rpc
