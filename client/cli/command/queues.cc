// skiplane queues: what there is, and how it is set.
#include <map>
#include <memory>
#include <string>

#include "client/cli/base/exit_code.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/input/table_options.h"
#include "client/cli/options/queue_settings.h"
#include "client/cli/text/enum_word.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct ListOptions {
  bool no_counts = false;
  std::optional<int> limit{};
};

struct QueueOptions {
  std::string name{};
  SettingTexts settings{};
  std::optional<int> lane_count{};
  std::string etag{};
  std::string mode{};
  std::string reason{};
};

absl::Status ListWithoutCounts(Session& session, const ListOptions& options) {
  return ShowPages<v1::ListQueuesRequest, v1::ListQueuesResponse>(
      session, {}, &AdminMethods::ListQueues,
      [](const v1::ListQueuesResponse& page) { return page.queues(); },
      {{"QUEUE", "name"}, {"PAUSED", "pause_mode"}, {"LANES", "lane_count"}},
      options.limit.value_or(100));
}

// Programs get the queues as they are elsewhere, with their counts.
absl::Status ListForPrograms(Session& session, const ListOptions& options) {
  std::map<std::string, v1::QueueCounts> counts;
  const int limit = options.limit.value_or(100);
  const absl::Status status =
      ForEach<v1::ListQueueSummariesRequest, v1::ListQueueSummariesResponse>(
          session, {}, &AdminMethods::ListQueueSummaries,
          [](const v1::ListQueueSummariesResponse& page) { return page.summaries(); },
          [&](const v1::QueueSummary& summary) { counts[summary.queue()] = summary.counts(); },
          limit);
  if (!status.ok()) return status;
  Listing listing(session, {});
  return ForEach<v1::ListQueuesRequest, v1::ListQueuesResponse>(
      session, {}, &AdminMethods::ListQueues,
      [](const v1::ListQueuesResponse& page) { return page.queues(); },
      [&](v1::Queue queue) {
        *queue.mutable_counts() = counts[queue.name()];
        listing.Add(queue);
      },
      limit);
}

absl::Status List(Session& session, const ListOptions& options) {
  if (options.no_counts) return ListWithoutCounts(session, options);
  if (session.json()) return ListForPrograms(session, options);
  return ShowPages<v1::ListQueueSummariesRequest, v1::ListQueueSummariesResponse>(
      session, {}, &AdminMethods::ListQueueSummaries,
      [](const v1::ListQueueSummariesResponse& page) { return page.summaries(); },
      {{"QUEUE", "queue"},
       {"PAUSED", "pause_mode"},
       {"SCHEDULED", "counts.scheduled_count"},
       {"READY", "counts.ready_count"},
       {"LEASED", "counts.leased_count"},
       {"SUCCEEDED", "counts.succeeded_count"},
       {"FAILED", "counts.failed_count"},
       {"IN/S", "enqueue_rate"},
       {"DONE/S", "success_rate"},
       {"OLDEST READY", "oldest_ready_age"},
       {"LONGEST RUN", "oldest_attempt_age"}},
      options.limit.value_or(100));
}

void ShowStages(Session& session, const v1::QueueSettings& settings) {
  session.out() << "\n";
  Listing stages(session, {{"STAGE", "name"},
                           {"LEASE", "lease_duration"},
                           {"MAX RUN", "max_run_duration"},
                           {"RETRY", "retry.kind"},
                           {"BASE DELAY", "retry.base_delay"},
                           {"MAX ATTEMPTS", "retry.max_attempts"}});
  for (const v1::Stage& stage : settings.stages()) stages.Add(stage);
  stages.End();
}

void ShowQueue(Session& session, const v1::Queue& queue) {
  ShowOne(session, queue);
  if (session.json()) return;
  if (!queue.settings().stages().empty()) ShowStages(session, queue.settings());
  if (queue.counts().stages().empty()) return;
  session.out() << "\n";
  Listing stages(session, {{"STAGE", "stage"},
                           {"SCHEDULED", "scheduled_count"},
                           {"READY", "ready_count"},
                           {"LEASED", "leased_count"},
                           {"SUCCEEDED", "succeeded_count"},
                           {"FAILED", "failed_count"},
                           {"OLDEST READY", "oldest_ready_age"}});
  for (const v1::StageCounts& stage : queue.counts().stages()) stages.Add(stage);
  stages.End();
}

template <typename Response>
absl::Status Tell(Session& session, const absl::StatusOr<Response>& answer) {
  if (!answer.ok()) return answer.status();
  ShowQueue(session, answer->queue());
  return absl::OkStatus();
}

absl::Status Show(Session& session, const QueueOptions& options) {
  const absl::StatusOr<v1::Queue> queue = session.GetQueue(options.name);
  if (!queue.ok()) return queue.status();
  ShowQueue(session, *queue);
  return absl::OkStatus();
}

absl::Status Create(Session& session, const QueueOptions& options) {
  v1::CreateQueueRequest request;
  request.set_name(options.name);
  request.set_lane_count(options.lane_count.value_or(0));
  if (!options.settings.Paths().empty()) {
    const absl::Status status = options.settings.Put(*request.mutable_settings());
    if (!status.ok()) return status;
  }
  return Tell(session, session.Call<v1::CreateQueueRequest, v1::CreateQueueResponse>(
                           std::move(request), &AdminMethods::CreateQueue));
}

absl::Status Update(Session& session, const QueueOptions& options) {
  v1::UpdateQueueRequest request;
  request.set_name(options.name);
  request.set_etag(options.etag);
  v1::Queue known;
  if (options.settings.has_stages()) {
    // What stages keep is written back, so it must still be what was read.
    absl::StatusOr<v1::Queue> queue = session.GetQueue(options.name);
    if (!queue.ok()) return queue.status();
    known = *std::move(queue);
    if (options.etag.empty()) request.set_etag(known.etag());
  }
  const absl::Status status =
      options.settings.Put(*request.mutable_settings(), known.settings());
  if (!status.ok()) return status;
  for (const std::string& path : options.settings.Paths()) {
    request.mutable_update_mask()->add_paths(path);
  }
  if (request.update_mask().paths().empty()) {
    return UsageError("nothing is to be changed: give at least one setting");
  }
  return Tell(session, session.Call<v1::UpdateQueueRequest, v1::UpdateQueueResponse>(
                           std::move(request), &AdminMethods::UpdateQueue));
}

absl::Status Pause(Session& session, const QueueOptions& options) {
  v1::PauseQueueRequest request;
  request.set_name(options.name);
  request.set_reason(options.reason);
  if (!options.mode.empty()) {
    const absl::StatusOr<int> mode = ParseEnumWord(*v1::PauseMode_descriptor(), options.mode);
    if (!mode.ok()) return mode.status();
    request.set_mode(static_cast<v1::PauseMode>(*mode));
  }
  return Tell(session, session.Call<v1::PauseQueueRequest, v1::PauseQueueResponse>(
                           std::move(request), &AdminMethods::PauseQueue));
}

absl::Status Resume(Session& session, const QueueOptions& options) {
  v1::ResumeQueueRequest request;
  request.set_name(options.name);
  return Tell(session, session.Call<v1::ResumeQueueRequest, v1::ResumeQueueResponse>(
                           std::move(request), &AdminMethods::ResumeQueue));
}

void AddQueue(CLI::App* app, QueueOptions* options) {
  AddText(app, "QUEUE", &options->name, "The queue").Required();
}

void DeclareSettings(CLI::App* queues, Plan* plan) {
  const auto create_options = std::make_shared<QueueOptions>();
  CLI::App* const create = AddCommand(
      queues, plan, "create",
      "Makes a queue. Settings that are not given take their defaults. If it exists with the same "
      "settings, or none are given, nothing is done.",
      create_options, Create);
  AddQueue(create, create_options.get());
  AddNumber(create, "--lane-count", &create_options->lane_count,
            "1 to 64: more lanes spread a hot queue; order is strict within a lane only");
  AddSettings(create, &create_options->settings);
  AddExamples(create, {"skiplane queues create mail --max-attempts 5 --base-delay 30s",
                       "skiplane queues create video --stage fetch "
                       "--stage 'encode lease-duration=2m max-attempts=3' --stage publish"});

  const auto update_options = std::make_shared<QueueOptions>();
  CLI::App* const update =
      AddCommand(queues, plan, "update",
                 "Changes the settings that are given and leaves the others as they are.",
                 update_options, Update);
  AddQueue(update, update_options.get());
  AddText(update, "--etag", &update_options->etag,
          "Refuse unless the queue still has this etag (queues show prints it)");
  AddSettings(update, &update_options->settings);
  AddExamples(update, {"skiplane queues update mail --retry exponential --base-delay 10s"});
}

void DeclarePauses(CLI::App* queues, Plan* plan) {
  const auto pause_options = std::make_shared<QueueOptions>();
  CLI::App* const pause =
      AddCommand(queues, plan, "pause",
                 "Stops leases, enqueues or both. Attempts that run already go on.", pause_options,
                 Pause);
  AddQueue(pause, pause_options.get());
  AddText(pause, "--mode", &pause_options->mode, "lease (default), enqueue or both")
      .Type("WORD");
  AddText(pause, "--reason", &pause_options->reason, "Why, for the next person");
  AddExamples(pause, {"skiplane queues pause mail --reason 'SMTP server moves'"});

  const auto resume_options = std::make_shared<QueueOptions>();
  CLI::App* const resume = AddCommand(
      queues, plan, "resume", "Ends a pause; waiting workers get tasks at once.", resume_options,
      Resume);
  AddQueue(resume, resume_options.get());
}

}  // namespace

void DeclareQueues(CLI::App* app, Plan* plan) {
  CLI::App* const queues =
      AddGroup(app, "queues", "Lists, makes, changes, pauses and deletes queues");
  const auto list_options = std::make_shared<ListOptions>();
  CLI::App* const list =
      AddView(queues, plan, "list", "Lists queues by name, with their counts.", list_options, List);
  AddSwitch(list, "--no-counts", &list_options->no_counts,
            "Names, pauses and lanes only");
  AddNumber(list, "--limit", &list_options->limit, "At most so many; 0: all").Default("100");
  AddTableOptions(list, plan);

  const auto show_options = std::make_shared<QueueOptions>();
  CLI::App* const show = AddView(
      queues, plan, "show", "Shows a queue's settings, its pause and its counts, also by stage.",
      show_options, Show);
  AddQueue(show, show_options.get());
  AddExamples(show, {"skiplane queues show mail --watch", "skiplane queues show mail --json"});
  DeclareSettings(queues, plan);
  DeclarePauses(queues, plan);
  DeclareQueueDeletion(queues, plan);
  DeclareQueueFiles(queues, plan);
}

}  // namespace skiplane::cli
