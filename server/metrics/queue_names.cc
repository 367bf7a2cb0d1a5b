#include "server/metrics/queue_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "server/metrics/metrics.h"

namespace skiplane::metrics {

void QueueNames::Pin(std::vector<std::string> patterns) { pins_ = std::move(patterns); }

void QueueNames::Rank(const std::vector<std::string>& names) {
  std::vector<std::string> order = names;
  std::ranges::stable_partition(order, [this](const std::string& name) { return IsPinned(name); });
  order.resize(std::min(order.size(), kQueuesMax));
  chosen_.emplace(order.begin(), order.end());
}

bool QueueNames::MayJoin(absl::string_view queue, size_t named) const {
  return named < kQueuesMax && MayStay(queue);
}

bool QueueNames::MayStay(absl::string_view queue) const {
  return !chosen_.has_value() || chosen_->contains(queue);
}

bool QueueNames::IsPinned(absl::string_view queue) const {
  const std::string name(queue);
  return std::ranges::any_of(pins_, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

}  // namespace skiplane::metrics
