#include "server/broker/lease/decision_log.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"

namespace skiplane::broker {

using base::SampledEvent;

void LogLeased(const model::Queue& queue, const LeaseRun& run, size_t tasks,
               size_t lanes_callers) {
  static constinit SampledEvent event("leased");
  if (!event.Wanted()) return;
  event.Write({{"queue", queue.name},
               {"lane", absl::StrCat(run.lane_stage.lane)},
               {"stage", absl::StrCat(run.lane_stage.stage)},
               {"asked", absl::StrCat(run.demand.slots.size())},
               {"tasks", absl::StrCat(tasks)},
               {"callers", absl::StrCat(run.tickets.size())},
               {"lanes_callers", absl::StrCat(lanes_callers)},
               {"with_an_ack", run.IsReservation() ? "yes" : "no"},
               {"with_an_enqueue", run.kind == LeaseRun::Kind::kHandOff ? "yes" : "no"}});
}

void LogHeldBack(const model::Queue& queue, const model::LaneStage& lane_stage,
                 absl::string_view why) {
  static constinit SampledEvent event("lease_held_back");
  if (!event.Wanted()) return;
  event.Write({{"queue", queue.name},
               {"lane", absl::StrCat(lane_stage.lane)},
               {"stage", absl::StrCat(lane_stage.stage)},
               {"why", std::string(why)}});
}

}  // namespace skiplane::broker
