// The requests of operators, checked and converted. Pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "server/broker/api/calls.h"
#include "server/broker/api/watch_calls.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

absl::StatusOr<broker::CreateQueueCall> ReadCreateQueue(v1::CreateQueueRequest* request);
absl::StatusOr<broker::GetQueueCall> ReadGetQueue(v1::GetQueueRequest* request);
absl::StatusOr<broker::ListQueuesCall> ReadListQueues(v1::ListQueuesRequest* request);
absl::StatusOr<broker::ListQueuesCall> ReadListSummaries(v1::ListQueueSummariesRequest* request);
absl::StatusOr<broker::WatchCall> ReadWatch(v1::WatchRequest* request);
absl::StatusOr<broker::UpdateQueueCall> ReadUpdateQueue(v1::UpdateQueueRequest* request);
absl::StatusOr<broker::PauseQueueCall> ReadPauseQueue(v1::PauseQueueRequest* request);
absl::StatusOr<broker::PauseQueueCall> ReadResumeQueue(v1::ResumeQueueRequest* request);

}  // namespace skiplane::rpc
