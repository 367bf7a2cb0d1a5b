// skiplane queues delete: removes a queue.
#include <memory>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/base/terminal.h"
#include "client/cli/command/bulk.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/show.h"
#include "client/cli/input/option.h"
#include "client/cli/text/table.h"
#include "client/src/convert_time.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct DeleteOptions {
  std::string name{};
  std::string etag{};
  bool with_tasks = false;
  bool yes = false;
};

int64_t Unfinished(const v1::QueueCounts& counts) {
  return counts.scheduled_count() + counts.ready_count() + counts.leased_count();
}

// As the broker refuses it, but without asking for what may have become possible. FAILED tasks do
// not count: some that are counted are gone with their day.
absl::Status NotEmpty(const v1::Queue& queue) {
  absl::Status status = absl::FailedPreconditionError(absl::StrCat(
      "queue ", OneLine(queue.name()), " has unfinished tasks (", Unfinished(queue.counts()),
      "); nothing was changed: repeat it with --with-tasks, or when they are finished"));
  status.SetPayload("skiplane.dev/reason", absl::Cord("QUEUE_NOT_EMPTY"));
  return status;
}

// The etag of what is told goes with the call, so that it is that queue.
absl::Status Confirm(Session& session, DeleteOptions& options) {
  const absl::StatusOr<v1::Queue> queue = session.GetQueue(options.name);
  if (!queue.ok()) return queue.status();
  if (options.etag.empty()) options.etag = queue->etag();
  const int64_t unfinished = Unfinished(queue->counts());
  if (unfinished > 0 && !options.with_tasks && !queue->deleting()) return NotEmpty(*queue);
  const std::string tasks = Tasks(unfinished + queue->counts().failed_count());
  const std::string what = absl::StrCat("delete queue ", OneLine(options.name),
                                        options.with_tasks ? absl::StrCat(" with ", tasks) : "");
  if (!IsTerminal(0)) {
    return UsageError(absl::StrCat("would ", what, "; nothing was done: repeat it with --yes"));
  }
  return Ask(absl::StrCat("Really ", what, "?")) ? absl::OkStatus()
                                                 : UsageError("nothing was done");
}

absl::Status Delete(Session& session, const DeleteOptions& asked) {
  DeleteOptions options = asked;
  if (!options.yes) {
    if (const absl::Status status = Confirm(session, options); !status.ok()) return status;
  }
  v1::DeleteQueueRequest request;
  request.set_name(options.name);
  request.set_with_tasks(options.with_tasks);
  request.set_etag(options.etag);
  internal::ToProto(absl::Milliseconds(300), request.mutable_wait());  // the bar is drawn soon
  Interrupt interrupt;
  auto answer = session.Call<v1::DeleteQueueRequest, v1::DeleteQueueResponse>(
      std::move(request), &AdminMethods::DeleteQueue);
  if (!answer.ok()) return answer.status();
  v1::BulkOperation operation = std::move(*answer->mutable_operation());
  const absl::Status status = Follow(session, operation, interrupt);
  if (!status.ok()) return status;
  if (operation.state() == v1::BULK_OPERATION_STATE_STOPPED) {
    return absl::FailedPreconditionError(
        absl::StrCat("queue ", OneLine(options.name), " stays: a task came while it was deleted, "
                     "or somebody stopped the operation"));
  }
  if (session.json()) return ShowOne(session, operation), absl::OkStatus();
  session.out() << "queue " << OneLine(options.name) << " is deleted, with "
                << Tasks(operation.changed_count()) << "\n";
  return absl::OkStatus();
}

}  // namespace

void DeclareQueueDeletion(CLI::App* queues, Plan* plan) {
  const auto options = std::make_shared<DeleteOptions>();
  CLI::App* const command = AddCommand(
      queues, plan, "delete",
      "Removes a queue, with what is kept of its finished tasks. Producers and workers are refused "
      "from then on. Ctrl-C stops it as long as nothing is gone.",
      options, Delete);
  AddText(command, "QUEUE", &options->name, "The queue").Required();
  AddSwitch(command, "--with-tasks", &options->with_tasks,
            "Also with unfinished and failed tasks; else a queue that has some stays");
  AddText(command, "--etag", &options->etag,
          "Refuse unless the queue still has this etag (queues show prints it)");
  AddSwitch(command, "--yes,-y", &options->yes, "Do not ask");
  AddExamples(command,
              {"skiplane queues delete old", "skiplane queues delete old --with-tasks -y"});
}

}  // namespace skiplane::cli
