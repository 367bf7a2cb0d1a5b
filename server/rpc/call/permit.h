// May the caller do what its request says? Asked of every request that was read, before anything is
// done: there is an overload for what each method reads, so that a method that forgets the question
// does not compile. Those of tasks and bulk operations leave the question to the broker, which
// learns the queue (broker::Permit).
//
// The answer to a queue that the caller may not use and to one that does not exist is the same:
// ACCESS_DENIED.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/rules.h"
#include "server/broker/api/calls.h"
#include "server/broker/api/operator_calls.h"
#include "server/broker/api/watch_calls.h"

namespace skiplane::rpc {

// ACCESS_DENIED on `field` unless `grants` allow it on `queue`.
absl::Status CheckQueue(const access::Grants& grants, access::Verb verb, absl::string_view queue,
                        absl::string_view field);

// The same question for the broker, blaming `field`; null if the answer is always yes.
broker::Permit PermitFor(const access::Grants& grants, access::Verb verb, std::string field);

absl::Status Permit(const access::Grants& grants, broker::EnqueueCall* call);
absl::Status Permit(const access::Grants& grants, broker::LeaseCall* call);
// A worker settles and renews by what proves that it leased: its tokens and its session.
absl::Status Permit(const access::Grants& grants, broker::HeartbeatCall* call);

absl::Status Permit(const access::Grants& grants, broker::CreateQueueCall* call);
absl::Status Permit(const access::Grants& grants, broker::DeleteQueueCall* call);
absl::Status Permit(const access::Grants& grants, broker::UpdateQueueCall* call);
absl::Status Permit(const access::Grants& grants, broker::PauseQueueCall* call);
absl::Status Permit(const access::Grants& grants, broker::GetQueueCall* call);
absl::Status Permit(const access::Grants& grants, broker::ListQueuesCall* call);
// When it begins; what it may see later is asked again and again.
absl::Status Permit(const access::Grants& grants, broker::WatchCall* call);

absl::Status Permit(const access::Grants& grants, broker::GetTaskCall* call);
absl::Status Permit(const access::Grants& grants, broker::ListTasksCall* call);
absl::Status Permit(const access::Grants& grants, broker::ExplainTaskCall* call);
absl::Status Permit(const access::Grants& grants, broker::ChangeTaskCall* call);
absl::Status Permit(const access::Grants& grants, broker::CopyTaskCall* call);
absl::Status Permit(const access::Grants& grants, broker::ListSchedulesCall* call);
absl::Status Permit(const access::Grants& grants, broker::PreviewCall* call);

absl::Status Permit(const access::Grants& grants, broker::StartBulkCall* call);
absl::Status Permit(const access::Grants& grants, broker::GetBulkCall* call);
absl::Status Permit(const access::Grants& grants, broker::StopBulkCall* call);
absl::Status Permit(const access::Grants& grants, broker::ListBulksCall* call);

absl::Status Permit(const access::Grants& grants, broker::ListErrorsCall* call);
absl::Status Permit(const access::Grants& grants, broker::AnnotateErrorCall* call);
absl::Status Permit(const access::Grants& grants, broker::StatisticsCall* call);
absl::Status Permit(const access::Grants& grants, broker::MinutesCall* call);
absl::Status Permit(const access::Grants& grants, broker::ListWorkersCall* call);
absl::Status Permit(const access::Grants& grants, broker::CommandWorkerCall* call);
absl::Status Permit(const access::Grants& grants, broker::ListBrokersCall* call);
absl::Status Permit(const access::Grants& grants, broker::ServerInfoCall* call);
absl::Status Permit(const access::Grants& grants, broker::ListAuditCall* call);

}  // namespace skiplane::rpc
