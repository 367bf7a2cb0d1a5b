#include "server/rpc/broker/permit_settle.h"

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/rpc/call/permit.h"

namespace skiplane::rpc {
namespace {

absl::Status CheckFollowUps(const access::Grants& grants, const model::AckItem& item) {
  if (item.continuation == nullptr) return absl::OkStatus();
  const std::vector<model::NewTask>& follow_ups = item.continuation->follow_ups;
  for (size_t i = 0; i < follow_ups.size(); ++i) {
    RETURN_IF_ERROR(CheckQueue(grants, access::Verb::kEnqueue, follow_ups[i].queue,
                               absl::StrCat("follow_ups[", i, "].queue")));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Permit(const access::Grants& grants, SettleCall* call) {
  if (call->lease.has_value()) {
    const absl::Status status = Permit(grants, &*call->lease);
    if (!status.ok()) return base::PrefixField("lease_next.", status);
  }
  if (grants.AllowsAll(access::Verb::kEnqueue)) return absl::OkStatus();
  for (model::SettleItem& item : call->items) {
    auto* const ack = std::get_if<model::AckItem>(&item);
    if (ack == nullptr || !ack->refusal.ok()) continue;
    ack->refusal = CheckFollowUps(grants, *ack);
    if (!ack->refusal.ok()) ack->continuation = nullptr;
  }
  return absl::OkStatus();
}

void OwnFollowUps(const std::string& principal, const std::string& party, SettleCall& call) {
  for (model::SettleItem& item : call.items) {
    auto* const ack = std::get_if<model::AckItem>(&item);
    if (ack == nullptr || ack->continuation == nullptr) continue;
    ack->continuation->principal = principal;
    ack->continuation->party = party;
  }
}

}  // namespace skiplane::rpc
