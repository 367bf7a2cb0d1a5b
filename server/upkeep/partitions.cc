#include "server/upkeep/partitions.h"

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/status_macros.h"
#include "server/store/retention.h"

namespace skiplane::upkeep {
namespace {

// Enough for a week without any broker; rows of later days would go to the default partition.
constexpr int kDaysAhead = 7;

}  // namespace

absl::StatusOr<PartitionsResult> Partitions::RunOnce(pg::Session& session) {
  PartitionsResult result;
  ASSIGN_OR_RETURN(result.made, store::MakePartitions(session, kDaysAhead));
  if (result.made > 0) {
    base::Log(base::LogLevel::kInfo, "partitions_made", {{"tables", absl::StrCat(result.made)}});
  }
  return result;
}

}  // namespace skiplane::upkeep
