// For whom answers that were not read fill the memory: nothing more is leased to them.
#pragma once

#include <string>

#include "absl/container/flat_hash_set.h"
#include "server/broker/api/calls.h"

namespace skiplane::broker {

struct FullMemory {
  bool for_all = false;
  absl::flat_hash_set<std::string> parties{};  // that have their part, see LeaseCall

  bool IsAny() const { return for_all || !parties.empty(); }
  bool IsFor(const LeaseCall& call) const {
    return for_all || (!parties.empty() && parties.contains(call.party));
  }
};

}  // namespace skiplane::broker
