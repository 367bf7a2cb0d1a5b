// skiplane queues export and apply: the settings of all queues as one file.
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/read_file.h"
#include "client/cli/base/terminal.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/options/queue_file.h"
#include "client/cli/text/table.h"
#include "nlohmann/json.hpp"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct ExportOptions {
  std::vector<std::string> names{};
};

struct ApplyOptions {
  std::string path{};
  bool yes = false;
  bool dry_run = false;
};

absl::StatusOr<std::map<std::string, v1::Queue>> All(Session& session) {
  std::map<std::string, v1::Queue> queues;
  const absl::Status status = ForEach<v1::ListQueuesRequest, v1::ListQueuesResponse>(
      session, {}, &AdminMethods::ListQueues,
      [](const v1::ListQueuesResponse& page) { return page.queues(); },
      [&](const v1::Queue& queue) { queues[queue.name()] = queue; }, 0);
  if (!status.ok()) return status;
  return queues;
}

absl::Status Export(Session& session, const ExportOptions& options) {
  const auto queues = All(session);
  if (!queues.ok()) return queues.status();
  std::vector<v1::Queue> wanted;
  for (const std::string& name : options.names) {
    const auto found = queues->find(name);
    if (found == queues->end()) {
      return absl::NotFoundError(absl::StrCat("there is no queue \"", name, "\""));
    }
    wanted.push_back(found->second);
  }
  if (options.names.empty()) {
    for (const auto& [name, queue] : *queues) wanted.push_back(queue);
  }
  session.out() << WriteQueueFile(wanted, session.json() ? -1 : 2) << "\n";
  return absl::OkStatus();
}

absl::Status Create(Session& session, const QueueEntry& entry) {
  v1::CreateQueueRequest request;
  request.set_name(entry.name);
  request.set_lane_count(entry.lane_count);
  *request.mutable_settings() = entry.settings;
  return session
      .Call<v1::CreateQueueRequest, v1::CreateQueueResponse>(std::move(request),
                                                             &AdminMethods::CreateQueue)
      .status();
}

// Refused if somebody changed the queue since it was compared.
absl::Status Update(Session& session, const QueueStep& step) {
  v1::UpdateQueueRequest request;
  request.set_name(step.entry.name);
  request.set_etag(step.etag);
  *request.mutable_settings() = step.entry.settings;
  for (const std::string& path : step.paths) request.mutable_update_mask()->add_paths(path);
  return session
      .Call<v1::UpdateQueueRequest, v1::UpdateQueueResponse>(std::move(request),
                                                             &AdminMethods::UpdateQueue)
      .status();
}

// Tells what would be done; returns how many queues that concerns.
int Tell(Session& session, const std::vector<QueueStep>& steps) {
  Table table({"QUEUE", "CHANGE", "SETTINGS"});
  int changes = 0;
  for (const QueueStep& step : steps) {
    if (!step.is_new && step.paths.empty()) continue;
    const char* const change = step.is_new ? "create" : "update";
    ++changes;
    if (session.json()) {
      session.out() << nlohmann::ordered_json{{"queue", step.entry.name},
                                              {"change", change},
                                              {"settings", step.paths}}
                           .dump()
                    << "\n";
    } else {
      table.Add({step.entry.name, change, absl::StrJoin(step.paths, ",")});
    }
  }
  if (session.json()) return changes;
  if (changes > 0) session.out() << table.Render(static_cast<size_t>(TerminalWidth()));
  session.out() << changes << " of " << steps.size() << " queues differ\n";
  return changes;
}

absl::Status Make(Session& session, const std::vector<QueueStep>& steps) {
  for (const QueueStep& step : steps) {
    if (!step.is_new && step.paths.empty()) continue;
    const absl::Status status =
        step.is_new ? Create(session, step.entry) : Update(session, step);
    if (status.ok()) continue;
    std::cerr << "skiplane: " << OneLine(step.entry.name)
              << ": not changed, nor what comes behind it in the file\n";
    return status;
  }
  return absl::OkStatus();
}

absl::Status Apply(Session& session, const ApplyOptions& options) {
  const absl::StatusOr<std::string> text = ReadFile(options.path);
  if (!text.ok()) return text.status();
  const auto entries = ReadQueueFile(*text);
  if (!entries.ok()) return entries.status();
  const auto known = All(session);
  if (!known.ok()) return known.status();
  const auto steps = CompareQueues(*entries, *known);
  if (!steps.ok()) return steps.status();
  const int changes = Tell(session, *steps);
  if (changes == 0 || options.dry_run) return absl::OkStatus();
  if (!options.yes) {
    if (!IsTerminal(0)) return UsageError("nothing was done: repeat it with --yes");
    if (!Ask("Really change them?")) return UsageError("nothing was done");
  }
  return Make(session, *steps);
}

}  // namespace

void DeclareQueueFiles(CLI::App* queues, Plan* plan) {
  const auto export_options = std::make_shared<ExportOptions>();
  CLI::App* const output = AddCommand(
      queues, plan, "export", "Writes the settings of all queues, or of some, as one document.",
      export_options, Export);
  AddTexts(output, "QUEUE", &export_options->names, "Only these queues");
  AddExamples(output, {"skiplane queues export > queues.json"});

  const auto apply_options = std::make_shared<ApplyOptions>();
  CLI::App* const apply = AddCommand(
      queues, plan, "apply",
      "Makes the queues of such a document and changes the settings that it names and that "
      "differ; null stands for the default. Other settings and other queues stay as they are.",
      apply_options, Apply);
  AddText(apply, "FILE", &apply_options->path, "The document; - is standard input").Required();
  AddSwitch(apply, "--yes,-y", &apply_options->yes, "Do not ask");
  AddSwitch(apply, "--dry-run", &apply_options->dry_run, "Only tell what differs");
  AddExamples(apply, {"skiplane queues apply queues.json --dry-run"});
}

}  // namespace skiplane::cli
