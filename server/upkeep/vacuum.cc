#include "server/upkeep/vacuum.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/pg/errors.h"

namespace skiplane::upkeep {

absl::StatusOr<VacuumResult> Vacuum::RunOnce(pg::Session& session) {
  VacuumResult result;
  absl::StatusOr<std::vector<store::SpaceStep>> steps = store::FindSpace(session, options_.bounds);
  if (pg::IsLockTimeout(steps.status())) return result;  // somebody changes the schema
  RETURN_IF_ERROR(steps.status());
  absl::flat_hash_map<std::string, int> before = std::exchange(checks_, {});
  const store::SpaceStep* forbidden = nullptr;
  absl::Status status;
  for (const store::SpaceStep& step : *steps) {
    const int checks = before[step.command] + 1;
    if (!step.is_allowed) {
      forbidden = &step;
    } else if (checks < options_.checks) {
      checks_[step.command] = checks;
    } else if (status.ok()) {
      status = Take(session, step, &result);
    }
  }
  NoteRights(forbidden);
  if (!status.ok()) return status;
  return result;
}

absl::Status Vacuum::Take(pg::Session& session, const store::SpaceStep& step,
                          VacuumResult* result) {
  ASSIGN_OR_RETURN(const int64_t before, store::ReadTaken(session, step.relation));
  const absl::Status status = store::GiveBack(session, step);
  if (pg::IsLockTimeout(status)) return absl::OkStatus();
  RETURN_IF_ERROR(status);
  ASSIGN_OR_RETURN(const int64_t after, store::ReadTaken(session, step.relation));
  ++result->steps;
  if (before <= after) return absl::OkStatus();
  result->bytes += before - after;
  base::Log(base::LogLevel::kInfo, "space_given_back",
            {{"relation", step.relation},
             {"bytes", absl::StrCat(before - after)},
             {"left", absl::StrCat(after)}});
  return absl::OkStatus();
}

void Vacuum::NoteRights(const store::SpaceStep* forbidden) {
  if (forbidden == nullptr || std::exchange(has_told_, true)) return;
  base::Log(base::LogLevel::kWarn, "space_kept",
            {{"relation", forbidden->relation},
             {"why", absl::StrCat("the broker's role does not own the tables and cannot give space "
                                  "back to the disk; let their owner run from time to time: ",
                                  forbidden->command)}});
}

}  // namespace skiplane::upkeep
