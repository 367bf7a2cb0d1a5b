#include "server/upkeep/leader.h"

#include "absl/time/time.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"

namespace skiplane::upkeep {
namespace {

// Short enough that the next leader looks for lost sessions within 2 s: a longer gap counts as an
// outage.
constexpr absl::Duration kLeadTime = absl::Milliseconds(1200);

}  // namespace

Leader::Leader(const pg::Uuid& broker_id, metrics::Metrics* metrics)
    : broker_id_(broker_id), metrics_(metrics) {
  metrics_->SetLeader(false);
}

absl::StatusOr<store::Lead> Leader::RunOnce(pg::Session& session) {
  ASSIGN_OR_RETURN(const store::Lead lead, store::TakeLead(session, broker_id_, kLeadTime));
  Become(lead.is_leader);
  return lead;
}

absl::Status Leader::Resign(pg::Session& session) {
  Become(false);
  return store::ResignLead(session, broker_id_);
}

void Leader::Doubt() { Become(false); }

void Leader::Become(bool is_leader) {
  if (is_leader == is_leader_) return;
  is_leader_ = is_leader;
  metrics_->SetLeader(is_leader);
  base::Log(base::LogLevel::kInfo, is_leader ? "lead_taken" : "lead_ended");
}

}  // namespace skiplane::upkeep
