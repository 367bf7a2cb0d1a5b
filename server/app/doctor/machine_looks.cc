#include "server/app/doctor/machine_looks.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/app/limits/descriptors.h"

namespace skiplane::app {
namespace {

constexpr double kRoomLeast = 0.1;
constexpr absl::Duration kClocksApart = absl::Seconds(2);

}  // namespace

Finding LookAtDescriptors(const config::Config& config) {
  absl::StatusOr<int64_t> limit = RaiseDescriptorLimit();
  const DescriptorPlan plan = PlanDescriptors(config, limit.value_or(0));
  const int64_t needed = plan.Needed(config.max_connections);
  Finding finding{"descriptors", Severity::kFine,
                  absl::StrCat("up to ", limit.value_or(0), ", of which --max-connections ",
                               config.max_connections, " needs ", needed),
                  ""};
  if (limit.value_or(0) >= needed) return finding;
  finding.severity = Severity::kSeeToIt;
  finding.advice = absl::StrCat("let it have ", needed,
                                " (LimitNOFILE= of systemd, or ulimit -n), or set "
                                "--max-connections lower");
  return finding;
}

Finding LookAtDisk(const std::string& folder) {
  Finding finding{"disk", Severity::kFine, "", ""};
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0) {
    finding.severity = Severity::kSeeToIt;
    finding.found = absl::StrCat(folder, ": ", std::strerror(errno));
    finding.advice = "let this account read the folder";
    return finding;
  }
  const double share =
      static_cast<double>(disk.f_bavail) / std::max<double>(1, static_cast<double>(disk.f_blocks));
  const uint64_t mebibytes = disk.f_bavail * disk.f_frsize / (1 << 20);
  finding.found = absl::StrCat(mebibytes, " MiB free of the disk of ", folder, ", ",
                               static_cast<int>(share * 100), " %");
  if (share >= kRoomLeast) return finding;
  finding.severity = Severity::kSeeToIt;
  finding.advice = "make room: PostgreSQL stops when there is none. Kept history and failed tasks "
                   "take most of it (history_retention, dead letters)";
  return finding;
}

Finding LookAtClocks(absl::Time before, absl::Time database, absl::Time after) {
  const absl::Duration apart =
      std::max({before - database, database - after, absl::ZeroDuration()});
  Finding finding{"clocks", Severity::kFine,
                  absl::StrCat("this machine's and the database's are ",
                               absl::FormatDuration(absl::Trunc(apart, absl::Milliseconds(1))),
                               " apart"),
                  ""};
  if (apart <= kClocksApart) return finding;
  finding.severity = Severity::kSeeToIt;
  finding.advice = "let both follow the same time server: times in logs and of certificates are "
                   "this machine's, those of tasks the database's";
  return finding;
}

}  // namespace skiplane::app
