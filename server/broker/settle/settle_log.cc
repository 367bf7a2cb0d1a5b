#include "server/broker/settle/settle_log.h"

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
