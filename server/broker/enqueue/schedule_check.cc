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
constexpr size_t kPerTurn = 50;  // the longest texts take 1 to 2 ms each

}  // namespace

absl::Status ScheduleCheck::RefusalOf(absl::string_view problem, absl::string_view prefix) {
  absl::string_view message = problem;
  const char* field = absl::ConsumePrefix(&message, "time_zone: ") ? "time_zone" : "cron";
  absl::ConsumePrefix(&message, "cron: ");
  return base::InvalidField(absl::StrCat(prefix, field), message);
}

ScheduleCheck::Unknown ScheduleCheck::UnknownOf(const EnqueueCall& call) const {
  Unknown unknown;
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
  Unknown unknown = UnknownOf(call);
  if (unknown.empty()) {
    done(std::move(call));
    return;
  }
  SubmitNext(std::make_shared<Open>(
      Open{std::move(call), std::move(done), std::move(unknown)}));
}

void ScheduleCheck::SubmitNext(const std::shared_ptr<Open>& open) {
  context_.turns.Submit(
      TurnOf::kWork, open->call.party, [this, open](absl::StatusOr<pg::Session*> session) {
        absl::Status status = session.status();
        const auto turn = absl::MakeConstSpan(open->unknown).subspan(open->first, kPerTurn);
        if (status.ok()) status = ValidateAll(**session, turn, "");
        open->first += turn.size();
        if (!status.ok()) {
          open->done(IsOutcomeUnknown(status) ? RepeatLater() : status);
        } else if (open->first < open->unknown.size()) {
          SubmitNext(open);
        } else {
          open->done(std::move(open->call));
        }
      });
}

absl::Status ScheduleCheck::Validate(pg::Session& session, const EnqueueCall& call,
                                     const std::string& field) {
  const Unknown unknown = UnknownOf(call);
  return unknown.empty() ? absl::OkStatus() : ValidateAll(session, unknown, field);
}

absl::Status ScheduleCheck::ValidateAll(pg::Session& session,
                                        absl::Span<const Unknown::value_type> unknown,
                                        const std::string& field) {
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
