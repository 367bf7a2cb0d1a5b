#include "server/app/limits/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/http/metrics_page.h"

namespace skiplane::app {
namespace {

// One that listens, one for upkeep, one to migrate.
constexpr int kFurtherDatabaseConnections = 3;
constexpr char kRemedy[] = "set LimitNOFILE= of the service, or ulimit -n, to ";

int64_t NumberOf(rlim_t limit) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  return limit > static_cast<rlim_t>(kMax) ? kMax : static_cast<int64_t>(limit);
}

}  // namespace

absl::StatusOr<int64_t> RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return absl::ErrnoToStatus(errno, "getrlimit");
  const rlimit raised = {limit.rlim_max, limit.rlim_max};
  // A sandbox may forbid it: then the limit is what it was, and what follows from it is told.
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return NumberOf(limit.rlim_cur);
}

int PageConnectionsWithin(int64_t limit, int wanted) {
  constexpr int64_t kPart = 8;
  return static_cast<int>(std::clamp<int64_t>(limit / kPart, 1, wanted));
}

int64_t DescriptorPlan::Needed(int callers) const {
  return kDescriptorsReserved + others + int64_t{callers} * ports;
}

DescriptorPlan PlanDescriptors(const config::Config& config, int64_t limit) {
  DescriptorPlan plan;
  if (!config.metrics_listen.empty()) {
    plan.page = PageConnectionsWithin(limit, http::kPageConnectionsMax);
  }
  plan.ports = config.http_listen.empty() ? 1 : 2;
  plan.others = config.database_connections + kFurtherDatabaseConnections + plan.page;
  return plan;
}

absl::StatusOr<int> ConnectionsWithin(int64_t limit, int wanted, const DescriptorPlan& plan) {
  const int64_t reserved = plan.Needed(0);
  const int64_t needed = plan.Needed(wanted);
  if (limit >= needed) return wanted;
  const std::string remedy = absl::StrCat(kRemedy, needed);
  const int64_t left = (limit - reserved) / plan.ports;
  if (limit <= reserved || left == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the limit of open files, ", limit,
                     ", leaves nothing for callers: the broker itself needs ", reserved, "; ",
                     remedy, " or more"));
  }
  base::Log(base::LogLevel::kWarn, "few_descriptors",
            {{"limit", absl::StrCat(limit)},
             {"connections_max", absl::StrCat(left)},
             {"wanted", absl::StrCat(wanted)},
             {"why", absl::StrCat("callers beyond that are refused; ", remedy, " or more")}});
  return static_cast<int>(left);
}

}  // namespace skiplane::app
