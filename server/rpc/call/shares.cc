#include "server/rpc/call/shares.h"

#include <algorithm>

namespace skiplane::rpc {

Share& Shares::Of(const Party& party) {
  const auto found = shares_.find(party.name);
  if (found != shares_.end()) return found->second;
  // As many came and went since the last time: looking at all of them costs each little.
  if (idle_ >= std::max(kIdleMax, shares_.size() / 2)) {
    absl::erase_if(shares_, [](const auto& entry) { return entry.second.is_idle(); });
    idle_ = 0;
  }
  ++idle_;
  return shares_[std::string(party.name)];
}

void Shares::BeginCall(Share& share) {
  if (share.is_idle()) --idle_;
  ++share.calls;
}

void Shares::EndCall(Share& share) {
  --share.calls;
  if (share.is_idle()) ++idle_;
}

}  // namespace skiplane::rpc
