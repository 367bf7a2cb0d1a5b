// Changes of single tasks, one call each.
#pragma once

#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/base/exit_code.h"
#include "client/cli/command/show.h"
#include "client/cli/options/content_options.h"

namespace skiplane::cli {

// Calls `change` for each id, also after failures. Of several ids it tells each failure, and
// returns how many there were, with the code and the reason of the first.
absl::Status ForEachId(const std::vector<std::string>& ids,
                       const std::function<absl::Status(const std::string&)>& change);

// Calls `method` for the task and shows what became of it.
template <typename Request, typename Response>
absl::Status ChangeOne(Session& session, const std::string& id, Request request,
                       internal::AsyncMethod<internal::AdminMethods, Request, Response> method) {
  request.set_task_id(id);
  const absl::StatusOr<Response> answer =
      session.Call<Request, Response>(std::move(request), method);
  if (!answer.ok()) return answer.status();
  if (session.json()) {
    ShowOne(session, answer->task());
  } else {
    const std::string time = FieldText(answer->task(), "schedule_time");
    session.out() << id << " is " << FieldText(answer->task(), "state")
                  << (time.empty() ? "" : ", runs " + time) << "\n";
  }
  return absl::OkStatus();
}

// What the options leave out stays as the task has it, which takes a call more.
template <typename Request>
absl::Status SetContent(Session& session, const std::string& id, const ContentOptions& options,
                        Request* request) {
  if (!options.IsAny()) return absl::OkStatus();
  v1::GetTaskRequest get;
  get.set_task_id(id);
  get.set_view(v1::TASK_VIEW_FULL);
  const auto answer = session.Call<v1::GetTaskRequest, v1::GetTaskResponse>(
      std::move(get), &internal::AdminMethods::GetTask);
  if (!answer.ok()) return answer.status();
  auto content = ToContent(options, answer->task());
  if (!content.ok()) return content.status();
  *request->mutable_new_content() = *std::move(content);
  return absl::OkStatus();
}

}  // namespace skiplane::cli
