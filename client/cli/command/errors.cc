// skiplane errors: failures that are the same fault, together.
#include "client/cli/command/bulk.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct ErrorOptions {
  std::string queue{};
  std::string stage{};
  std::string fingerprint{};
  std::optional<int> limit{};
};

absl::Status List(Session& session, const ErrorOptions& options) {
  v1::ListErrorGroupsRequest request;
  request.set_queue(options.queue);
  request.set_stage(options.stage);
  Columns columns{{"FINGERPRINT", "fingerprint"},
                  {"STAGE", "stage"},
                  {"RETRYING", "retrying_count"},
                  {"FAILED", "failed_count"},
                  {"FIRST SEEN", "first_seen_time"},
                  {"LAST SEEN", "last_seen_time"},
                  {"TYPE", "type"},
                  {"TEXT", "text"}};
  if (options.queue.empty()) columns.insert(columns.begin(), {"QUEUE", "queue"});
  return ShowPages<v1::ListErrorGroupsRequest, v1::ListErrorGroupsResponse>(
      session, std::move(request), &AdminMethods::ListErrorGroups,
      [](const v1::ListErrorGroupsResponse& page) { return page.groups(); }, columns,
      options.limit.value_or(100));
}

absl::Status Retry(Session& session, const ErrorOptions& options) {
  v1::RetryErrorGroupRequest request;
  request.set_queue(options.queue);
  request.set_stage(options.stage);
  request.set_fingerprint(options.fingerprint);
  // The progress bar waits, not the call.
  internal::ToProto(absl::Milliseconds(300), request.mutable_wait());
  auto answer = session.Call<v1::RetryErrorGroupRequest, v1::RetryErrorGroupResponse>(
      std::move(request), &AdminMethods::RetryErrorGroup);
  if (!answer.ok()) return answer.status();
  return FollowAndTell(session, std::move(*answer->mutable_operation()));
}

void AddStage(CLI::App* app, const std::shared_ptr<ErrorOptions>& options) {
  AddText(app, "--stage", &options->stage, "Of this stage only");
}

}  // namespace

void DeclareErrors(CLI::App* app, Plan* plan) {
  CLI::App* const errors =
      AddGroup(app, "errors", "Groups failures that are the same fault, and retries them");
  auto options = std::make_shared<ErrorOptions>();
  CLI::App* const list =
      AddView(errors, plan, "list",
              "Lists the error groups of a queue, or of all queues, that still have tasks, the "
              "latest seen first.",
              options, List);
  AddText(list, "QUEUE", &options->queue, "The queue").Default("all");
  AddStage(list, options);
  AddNumber(list, "--limit", &options->limit, "At most so many; 0: all").Default("100");

  options = std::make_shared<ErrorOptions>();
  CLI::App* const retry = AddCommand(errors, plan, "retry",
                                     "Retries all tasks of an error group now.", options, Retry);
  AddText(retry, "QUEUE", &options->queue, "The queue").Required();
  AddStage(retry, options);
  AddText(retry, "FINGERPRINT", &options->fingerprint, "The group, as errors list shows it")
      .Required();
}

}  // namespace skiplane::cli
