#include "server/rpc/call/method_verb.h"

#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/reason.h"

namespace skiplane::rpc {
namespace {

using access::Verb;
using Verbs = absl::flat_hash_map<absl::string_view, std::optional<Verb>>;

const std::pair<absl::string_view, std::optional<Verb>> kVerbs[] = {
    {"BrokerService/Enqueue", Verb::kEnqueue},
    {"BrokerService/Lease", Verb::kLease},
    {"BrokerService/Ack", Verb::kLease},
    {"BrokerService/Nack", Verb::kLease},
    {"BrokerService/Settle", Verb::kLease},
    {"BrokerService/Heartbeat", Verb::kLease},
    {"BrokerService/Work", Verb::kLease},
    {"BrokerService/Produce", Verb::kEnqueue},
    {"AdminService/WhoAmI", std::nullopt},
    {"AdminService/CreateQueue", Verb::kAdmin},
    {"AdminService/DeleteQueue", Verb::kAdmin},
    {"AdminService/UpdateQueue", Verb::kAdmin},
    {"AdminService/PauseQueue", Verb::kAdmin},
    {"AdminService/CommandWorker", Verb::kAdmin},
    {"AdminService/ResumeQueue", Verb::kAdmin},
    {"AdminService/GetQueue", Verb::kRead},
    {"AdminService/ListQueues", Verb::kRead},
    {"AdminService/ListQueueSummaries", Verb::kRead},
    {"AdminService/Watch", Verb::kRead},
    {"AdminService/GetTask", Verb::kRead},
    {"AdminService/ListTasks", Verb::kRead},
    {"AdminService/ExplainTask", Verb::kRead},
    {"AdminService/PreviewSchedule", Verb::kRead},
    {"AdminService/ListSchedules", Verb::kRead},
    {"AdminService/GetBulkOperation", Verb::kRead},
    {"AdminService/ListBulkOperations", Verb::kRead},
    {"AdminService/ListErrorGroups", Verb::kRead},
    {"AdminService/GetStatistics", Verb::kRead},
    {"AdminService/GetMinuteStatistics", Verb::kRead},
    {"AdminService/ListBrokers", Verb::kRead},
    {"AdminService/GetServerInfo", Verb::kRead},
    {"AdminService/ListWorkers", Verb::kRead},
    {"AdminService/ListAuditRecords", Verb::kRead},
    {"AdminService/PrioritizeTask", Verb::kOperate},
    {"AdminService/RescheduleTask", Verb::kOperate},
    {"AdminService/RetryTask", Verb::kOperate},
    {"AdminService/CopyTask", Verb::kOperate},
    {"AdminService/MoveTask", Verb::kOperate},
    {"AdminService/CancelTask", Verb::kOperate},
    {"AdminService/DeleteTask", Verb::kOperate},
    {"AdminService/PauseTask", Verb::kOperate},
    {"AdminService/ResumeTask", Verb::kOperate},
    {"AdminService/TriggerTask", Verb::kOperate},
    {"AdminService/StartBulkOperation", Verb::kOperate},
    {"AdminService/StopBulkOperation", Verb::kOperate},
    {"AdminService/RetryErrorGroup", Verb::kOperate},
    {"AdminService/AnnotateErrorGroup", Verb::kOperate},
};

const Verbs& AllVerbs() {
  static const auto* const verbs = new Verbs(std::begin(kVerbs), std::end(kVerbs));
  return *verbs;
}

}  // namespace

absl::StatusOr<std::optional<Verb>> VerbOf(absl::string_view method) {
  const auto found = AllVerbs().find(absl::StripPrefix(method, "skiplane.v1."));
  if (found == AllVerbs().end()) return absl::NotFoundError("no verb is listed");
  return found->second;
}

absl::Status CheckMethod(const access::Grants& grants, absl::string_view principal,
                         absl::string_view method) {
  const auto verb = VerbOf(method);
  if (verb.ok() && !verb->has_value()) return absl::OkStatus();
  if (verb.ok() && grants.AllowsSome(**verb)) return absl::OkStatus();
  return base::Refuse(
      absl::StatusCode::kPermissionDenied, "ACCESS_DENIED",
      verb.ok() ? absl::StrCat("the rules allow you (", principal, ") to `",
                               access::VerbName(**verb),
                               "` on no queue: ask the operator for a rule")
                : "no rule can allow this method");
}

}  // namespace skiplane::rpc
