// skiplane tasks copy and move.
#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/command/commands.h"
#include "client/cli/command/one_task.h"
#include "client/cli/input/option.h"

namespace skiplane::cli {
namespace {

using internal::AdminMethods;

struct CopyOptions {
  std::vector<std::string> ids{};
  std::string queue{};
  std::string stage{};
  std::string key{};
  ContentOptions content{};
};

template <typename Request, typename Response>
absl::Status MakeOne(Session& session, const std::string& id, const CopyOptions& options,
                     Request request, const char* what,
                     internal::AsyncMethod<AdminMethods, Request, Response> method) {
  request.set_task_id(id);
  request.set_queue(options.queue);
  request.set_stage(options.stage);
  const absl::Status content = SetContent(session, id, options.content, &request);
  if (!content.ok()) return content;
  const auto answer = session.Call<Request, Response>(std::move(request), method);
  if (!answer.ok()) return answer.status();
  if (session.json()) {
    ShowOne(session, answer->task());
  } else {
    session.out() << id << what << answer->task().task_id() << " in " << answer->task().queue()
                  << "\n";
  }
  return absl::OkStatus();
}

absl::Status Copy(Session& session, const CopyOptions& options) {
  if (options.ids.size() > 1 && !options.key.empty()) return UsageError("--key is for one task");
  return ForEachId(options.ids, [&](const std::string& id) {
    v1::CopyTaskRequest request;
    request.set_key(options.key);
    return MakeOne<v1::CopyTaskRequest, v1::CopyTaskResponse>(
        session, id, options, std::move(request), " is copied as ", &AdminMethods::CopyTask);
  });
}

absl::Status Move(Session& session, const CopyOptions& options) {
  return ForEachId(options.ids, [&](const std::string& id) {
    return MakeOne<v1::MoveTaskRequest, v1::MoveTaskResponse>(
        session, id, options, {}, " is now ", &AdminMethods::MoveTask);
  });
}

}  // namespace

void DeclareTaskCopies(CLI::App* tasks, Plan* plan) {
  const auto add = [&](const char* name, const char* description, const char* queue,
                       absl::Status (*run)(Session&, const CopyOptions&)) {
    const auto options = std::make_shared<CopyOptions>();
    CLI::App* const app = AddCommand(tasks, plan, name, description, options, run);
    AddTexts(app, "TASK", &options->ids, "Ids of tasks").Required();
    Option to = AddText(app, "--queue,-q", &options->queue, queue);
    if (run == &Move) to.Required();
    AddText(app, "--stage", &options->stage, "Begin at this stage").Default("the first");
    AddContent(app, &options->content);
    return options;
  };
  const auto copy = add("copy",
                        "Enqueues tasks like others, which stay as they are, to run at once.",
                        "The queue of the copies; default that of the task", &Copy);
  AddText(CommandOf(tasks, "copy"), "--key", &copy->key, "The key of the copy; default none");
  AddExamples(CommandOf(tasks, "copy"),
              {"skiplane tasks copy TASK", "skiplane tasks copy TASK --new-payload '{\"id\": 7}'"});
  add("move", "Moves waiting and failed tasks to another queue, where they have new ids.",
      "The queue to which they go", &Move);
  AddExamples(CommandOf(tasks, "move"), {"skiplane tasks move TASK --queue mail-slow"});
}

}  // namespace skiplane::cli
