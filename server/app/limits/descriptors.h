// What the limit of open files (RLIMIT_NOFILE) allows this process.
//
// Each connection of a caller is a descriptor, and a process that has none left can neither accept
// nor connect to its database. So the soft limit is raised as far as it may be, and connections are
// counted below it, with a reserve for everything else.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace skiplane::app {

// Descriptors that are kept for other things than callers' connections: files, gRPC's own, the
// first connections to an embedded database. Those to a database and to the metrics page come on
// top.
inline constexpr int64_t kDescriptorsReserved = 96;

// Raises the soft limit to the hard one. Returns the limit in force.
absl::StatusOr<int64_t> RaiseDescriptorLimit();

// What a broker with these flags has descriptors for.
struct DescriptorPlan {
  int page = 0;    // connections to the metrics page
  int ports = 1;   // for callers, each with as many connections
  int others = 0;  // of the broker itself, the page's among them; kDescriptorsReserved comes on top

  int64_t Needed(int callers) const;  // callers: connections to each port
};
DescriptorPlan PlanDescriptors(const config::Config& config, int64_t limit);

// Of `wanted` connections to the metrics page, those that `limit` allows: a small part of it.
int PageConnectionsWithin(int64_t limit, int wanted);

// Of `wanted` connections of callers to each port, those that `limit` allows. With fewer than
// wanted a warning is logged. FAILED_PRECONDITION if none is left.
absl::StatusOr<int> ConnectionsWithin(int64_t limit, int wanted, const DescriptorPlan& plan);

}  // namespace skiplane::app
