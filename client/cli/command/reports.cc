// skiplane stats, audit and whoami.
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/input/table_options.h"
#include "client/cli/text/enum_word.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct StatsOptions {
  std::string queue{};
  std::string stage{};
  std::string outcome{};
  std::optional<absl::Duration> since{};
  std::optional<absl::Time> from{};
  std::optional<absl::Time> to{};
  bool minutes = false;
  std::optional<absl::Duration> step{};
};

struct ListOptions {
  std::string queue{};
  std::string task{};
  std::string actor{};
  std::optional<absl::Duration> since{};
  std::optional<absl::Time> from{};
  std::optional<absl::Time> to{};
  std::optional<int> limit{};
};

// Puts what --since, --from and --to say into a request.
template <typename Options, typename Request>
void PutRange(const Options& options, Request& request) {
  if (options.since) internal::ToProto(absl::Now() - *options.since, request.mutable_start_time());
  if (options.from) internal::ToProto(*options.from, request.mutable_start_time());
  if (options.to) internal::ToProto(*options.to, request.mutable_end_time());
}

absl::Status Minutes(Session& session, const StatsOptions& options) {
  v1::GetMinuteStatisticsRequest request;
  request.set_queue(options.queue);
  request.set_stage(options.stage);
  if (options.step) internal::ToProto(*options.step, request.mutable_step());
  PutRange(options, request);
  absl::StatusOr<Listing> listing = Listing::AsAsked(session, {{"TIME", "start_time"},
                                                               {"STAGE", "stage"},
                                                               {"RUNS", "run.count"},
                                                               {"RUN P50", "run.p50"},
                                                               {"RUN P95", "run.p95"},
                                                               {"RUN P99", "run.p99"},
                                                               {"LEASES", "wait.count"},
                                                               {"WAIT P50", "wait.p50"},
                                                               {"WAIT P95", "wait.p95"},
                                                               {"WAIT P99", "wait.p99"}});
  if (!listing.ok()) return listing.status();
  do {
    const auto page =
        session.Call<v1::GetMinuteStatisticsRequest, v1::GetMinuteStatisticsResponse>(
            request, &AdminMethods::GetMinuteStatistics);
    if (!page.ok()) return page.status();
    for (const v1::MinuteStatistics& minute : page->minutes()) listing->Add(minute);
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  listing->End();
  return absl::OkStatus();
}

absl::Status Stats(Session& session, const StatsOptions& options) {
  if (options.minutes) return Minutes(session, options);
  v1::GetStatisticsRequest request;
  request.set_queue(options.queue);
  request.set_stage(options.stage);
  if (!options.outcome.empty()) {
    const auto outcome = ParseEnumWord(*v1::AttemptOutcome_descriptor(), options.outcome);
    if (!outcome.ok()) return outcome.status();
    request.set_outcome(static_cast<v1::AttemptOutcome>(*outcome));
  }
  PutRange(options, request);
  absl::StatusOr<Listing> listing = Listing::AsAsked(session, {{"HOUR", "start_time"},
                                                               {"STAGE", "stage"},
                                                               {"OUTCOME", "outcome"},
                                                               {"ATTEMPTS", "attempt_count"},
                                                               {"RUN MEAN", "run_mean"},
                                                               {"RUN MAX", "run_max"},
                                                               {"WAIT MEAN", "wait_mean"}});
  if (!listing.ok()) return listing.status();
  do {
    const auto page = session.Call<v1::GetStatisticsRequest, v1::GetStatisticsResponse>(
        request, &AdminMethods::GetStatistics);
    if (!page.ok()) return page.status();
    for (const v1::HourStatistics& hour : page->hours()) listing->Add(hour);
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  listing->End();
  return absl::OkStatus();
}

absl::Status Audit(Session& session, const ListOptions& options) {
  v1::ListAuditRecordsRequest request;
  request.set_queue(options.queue);
  request.set_task_id(options.task);
  request.set_actor(options.actor);
  PutRange(options, request);
  return ShowPages<v1::ListAuditRecordsRequest, v1::ListAuditRecordsResponse>(
      session, std::move(request), &AdminMethods::ListAuditRecords,
      [](const v1::ListAuditRecordsResponse& page) { return page.records(); },
      {{"TIME", "create_time"},
       {"ACTOR", "actor"},
       {"METHOD", "method"},
       {"QUEUE", "queue"},
       {"CHANGED", "changed_count"},
       {"REQUEST", "request_json"}},
      options.limit.value_or(100));
}

absl::Status WhoAmI(Session& session, const ListOptions&) {
  const auto answer =
      session.Call<v1::WhoAmIRequest, v1::WhoAmIResponse>({}, &AdminMethods::WhoAmI);
  if (!answer.ok()) return answer.status();
  if (session.json()) {
    ShowOne(session, *answer);
    return absl::OkStatus();
  }
  std::cout << answer->principal() << "\n";
  for (const std::string& group : answer->groups()) std::cout << "in group " << group << "\n";
  for (const v1::Grant& grant : answer->grants()) {
    const std::string verb = absl::AsciiStrToLower(v1::Verb_Name(grant.verb()).substr(5));
    std::cout << "may " << verb << " on " << absl::StrJoin(grant.queues(), ", ") << "\n";
  }
  if (answer->grants().empty()) std::cout << "no rule allows you anything\n";
  return absl::OkStatus();
}

void DeclareStats(CLI::App* app, Plan* plan) {
  const auto options = std::make_shared<StatsOptions>();
  CLI::App* const stats = AddView(
      app, plan, "stats",
      "Shows how the attempts of a queue ended, hour by hour: how many, how long they ran and how "
      "long they had waited. Hours without attempts are left out. With --minutes: how long "
      "attempts ran and waited, minute by minute, of the last two days.",
      options, Stats);
  AddText(stats, "QUEUE", &options->queue, "The queue").Required();
  AddText(stats, "--stage", &options->stage, "Of this stage only");
  AddText(stats, "--outcome", &options->outcome,
          "Of this outcome only: succeeded, retried, failed, lost, cancelled or hanged")
      .Type("WORD");
  AddDuration(stats, "--since", &options->since, "Of the last so long").Default("24h");
  AddInstant(stats, "--from", &options->from, "From this time on");
  AddInstant(stats, "--to", &options->to, "Up to this time");
  AddSwitch(stats, "--minutes", &options->minutes, "By minute; --since is 1h then");
  AddDuration(stats, "--step", &options->step, "With --minutes: by so many minutes").Default("1m");
  AddTableOptions(stats, plan);
  AddExamples(stats, {"skiplane stats mail --since 7d --outcome failed",
                      "skiplane stats mail --minutes --since 6h --step 10m"});
}

}  // namespace

void DeclareReports(CLI::App* app, Plan* plan) {
  DeclareStats(app, plan);
  auto options = std::make_shared<ListOptions>();
  AddView(app, plan, "whoami", "Shows who the broker takes you for, and what you may do.", options,
          WhoAmI);

  options = std::make_shared<ListOptions>();
  CLI::App* const audit =
      AddView(app, plan, "audit", "Lists the changes that operators made, the latest first.",
              options, Audit);
  AddText(audit, "--queue,-q", &options->queue, "Of this queue only");
  AddText(audit, "--task", &options->task, "Of this task only").Type("ID");
  AddText(audit, "--actor", &options->actor, "By this one only");
  AddDuration(audit, "--since", &options->since, "Of the last so long");
  AddInstant(audit, "--from", &options->from, "From this time on");
  AddInstant(audit, "--to", &options->to, "Up to this time");
  AddNumber(audit, "--limit", &options->limit, "At most so many; 0: all").Default("100");
  AddTableOptions(audit, plan);
}

}  // namespace skiplane::cli
