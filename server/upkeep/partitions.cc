#include "server/upkeep/partitions.h"

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/store/retention.h"

namespace skiplane::upkeep {
namespace {

// Enough for a week without any broker; rows of later days would go to the default partition.
constexpr int kDaysAhead = 7;
constexpr int kStraysAtOnce = 2000;

}  // namespace

absl::StatusOr<PartitionsResult> Partitions::RunOnce(pg::Session& session) {
  PartitionsResult result;
  ASSIGN_OR_RETURN(result.made, store::MakePartitions(session, kDaysAhead));
  if (result.made > 0) {
    base::Log(base::LogLevel::kInfo, "partitions_made", {{"tables", absl::StrCat(result.made)}});
  }
  // One at a time: each locks its table for a moment.
  const absl::StatusOr<bool> dropped = store::DropPartition(session);
  if (absl::IsAborted(dropped.status())) {
    result.is_complete = false;  // busy callers were in the way
  } else if (!dropped.ok()) {
    return dropped.status();
  } else if (*dropped) {
    ++result.dropped;
    result.is_complete = false;  // there may be another
    base::Log(base::LogLevel::kInfo, "partition_dropped", {});
  }
  ASSIGN_OR_RETURN(const int64_t strays, store::ExpireDefaults(session, kStraysAtOnce));
  if (strays >= kStraysAtOnce) result.is_complete = false;
  return result;
}

}  // namespace skiplane::upkeep
