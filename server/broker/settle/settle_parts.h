// Which items one statement settles: a task that fails is copied with its payload, of a megabyte
// maybe, so that a thousand would take longer than a statement may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/broker/settle/settle_call.h"
#include "server/model/limits.h"

namespace skiplane::broker {

inline constexpr size_t kFailuresAtOnce = 250;
inline constexpr int64_t kRowsOfFailure = model::kBatchRowsMax / kFailuresAtOnce;

inline bool MayFail(const SettleItem& item) {
  return item.action == store::Action::kFail || item.action == store::Action::kRetry;
}

// In their order.
inline std::vector<std::vector<SettleItem*>> PartsOf(const std::vector<SettleItem*>& items) {
  std::vector<std::vector<SettleItem*>> parts;
  size_t may_fail = 0;
  for (SettleItem* item : items) {
    if (MayFail(*item)) ++may_fail;
    if (parts.empty() || may_fail > kFailuresAtOnce) {
      parts.emplace_back();
      may_fail = MayFail(*item) ? 1 : 0;
    }
    parts.back().push_back(item);
  }
  return parts;
}

}  // namespace skiplane::broker
