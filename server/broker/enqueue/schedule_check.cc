#include "server/broker/enqueue/schedule_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"

namespace skiplane::broker {
namespace {

constexpr size_t kRememberedMax = 10000;

}  // namespace

absl::Status ScheduleCheck::RefusalOf(absl::string_view problem, absl::string_view prefix) {
  absl::string_view message = problem;
  const char* field = absl::ConsumePrefix(&message, "time_zone: ") ? "time_zone" : "cron";
  absl::ConsumePrefix(&message, "cron: ");
  return base::InvalidField(absl::StrCat(prefix, field), message);
}

std::vector<std::pair<store::Schedule, size_t>> ScheduleCheck::Unknown(
    const EnqueueCall& call) const {
  std::vector<std::pair<store::Schedule, size_t>> unknown;
  const auto has_cron = [](const model::NewTask& task) { return !task.cron.empty(); };
  if (std::none_of(call.tasks.begin(), call.tasks.end(), has_cron)) return unknown;
  absl::flat_hash_set<store::Schedule> seen;
  base::MutexLock lock(mutex_);
  for (size_t i = 0; i < call.tasks.size(); ++i) {
    const model::NewTask& task = call.tasks[i];
    if (task.cron.empty()) continue;
    store::Schedule schedule{task.cron, task.time_zone.empty() ? "UTC" : task.time_zone};
    if (fine_.contains(schedule) || !seen.insert(schedule).second) continue;
    unknown.emplace_back(std::move(schedule), i);
  }
  return unknown;
}

void ScheduleCheck::Check(EnqueueCall call, Callback<EnqueueCall> done) {
  if (Unknown(call).empty()) {
    done(std::move(call));
    return;
  }
  context_.pool.Submit([this, call = std::move(call),
                        done = std::move(done)](absl::StatusOr<pg::Session*> session) mutable {
    absl::Status status = session.status();
    if (status.ok()) status = Validate(**session, call, "");
    if (status.ok()) {
      done(std::move(call));
    } else {
      done(IsOutcomeUnknown(status) ? RepeatLater() : status);
    }
  });
}

absl::Status ScheduleCheck::Validate(pg::Session& session, const EnqueueCall& call,
                                     const std::string& field) {
  const auto unknown = Unknown(call);
  if (unknown.empty()) return absl::OkStatus();
  std::vector<store::Schedule> schedules;
  for (const auto& [schedule, task] : unknown) schedules.push_back(schedule);
  ASSIGN_OR_RETURN(const std::vector<std::string> problems,
                   store::CheckSchedules(session, schedules));
  for (size_t i = 0; i < problems.size(); ++i) {
    if (problems[i].empty()) continue;
    return RefusalOf(problems[i],
                     field.empty() ? absl::StrCat("tasks[", unknown[i].second, "].") : field);
  }
  base::MutexLock lock(mutex_);
  if (fine_.size() > kRememberedMax) fine_.clear();
  fine_.insert(schedules.begin(), schedules.end());
  return absl::OkStatus();
}

}  // namespace skiplane::broker
