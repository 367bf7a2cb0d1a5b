#include "server/broker/decision_log.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/sampled_event.h"

namespace skiplane::broker {
namespace {

using base::SampledEvent;
using store::Action;

std::string Of(const std::map<Action, int64_t>& counts, Action outcome) {
  const auto found = counts.find(outcome);
  return absl::StrCat(found == counts.end() ? 0 : found->second);
}

bool IsSettled(const SettleItem* item) {
  return item->result.outcome == model::SettleOutcome::kSettled;
}

}  // namespace

void LogLeased(const model::Queue& queue, const LeaseRun& run, size_t tasks,
               size_t lanes_callers) {
  static constinit SampledEvent event("leased");
  if (!event.Wanted()) return;
  event.Write({{"queue", queue.name},
               {"lane", absl::StrCat(run.place.lane)},
               {"stage", absl::StrCat(run.place.stage)},
               {"asked", absl::StrCat(run.demand.places.size())},
               {"tasks", absl::StrCat(tasks)},
               {"callers", absl::StrCat(run.tickets.size())},
               {"lanes_callers", absl::StrCat(lanes_callers)},
               {"with_an_ack", run.is_within ? "yes" : "no"}});
}

void LogHeldBack(const model::Queue& queue, const model::LaneStage& place,
                 absl::string_view why) {
  static constinit SampledEvent event("lease_held_back");
  if (!event.Wanted()) return;
  event.Write({{"queue", queue.name},
               {"lane", absl::StrCat(place.lane)},
               {"stage", absl::StrCat(place.stage)},
               {"why", std::string(why)}});
}

void LogSettled(const model::Queue& queue, int64_t lane, const std::vector<SettleItem*>& items,
                const std::map<Action, int64_t>& counts) {
  static constinit SampledEvent event("settled");
  if (!event.Wanted()) return;
  const auto settled = std::ranges::count_if(items, &IsSettled);
  event.Write({{"queue", queue.name},
               {"lane", absl::StrCat(lane)},
               {"items", absl::StrCat(items.size())},
               {"acked", Of(counts, Action::kAck)},
               {"retried", Of(counts, Action::kRetry)},
               {"released", Of(counts, Action::kRelease)},
               {"failed", Of(counts, Action::kFail)},
               {"cancelled", Of(counts, Action::kCancel)},
               {"not_held", absl::StrCat(static_cast<int64_t>(items.size()) - settled)}});
}

}  // namespace skiplane::broker
