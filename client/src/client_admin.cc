// The operator's half of Client: queues and single tasks.
#include <string>
#include <utility>

#include "client/src/await_task.h"
#include "client/src/call.h"
#include "client/src/connection.h"
#include "client/src/content.h"
#include "client/src/convert_enum.h"
#include "client/src/convert_queue.h"
#include "client/src/convert_task.h"
#include "skiplane/client.h"

namespace skiplane {
namespace {

using internal::AdminMethods;
using internal::Call;

constexpr int kPageSize = 1000;

template <typename Response>
absl::StatusOr<Queue> QueueOf(const absl::StatusOr<Response>& response) {
  if (!response.ok()) return response.status();
  return internal::FromProto(response->queue());
}

absl::StatusOr<Queue> Create(const std::shared_ptr<internal::Connection>& connection,
                             v1::CreateQueueRequest request) {
  return QueueOf(Call<v1::CreateQueueRequest, v1::CreateQueueResponse>(
      connection, std::move(request), &AdminMethods::CreateQueue));
}

}  // namespace

absl::StatusOr<Queue> Client::CreateQueue(absl::string_view name) {
  v1::CreateQueueRequest request;
  request.set_name(std::string(name));
  return Create(connection_, std::move(request));
}

absl::StatusOr<Queue> Client::CreateQueue(absl::string_view name, const QueueSettings& settings,
                                          int lane_count) {
  v1::CreateQueueRequest request;
  request.set_name(std::string(name));
  internal::ToProto(settings, request.mutable_settings());
  request.set_lane_count(lane_count);
  return Create(connection_, std::move(request));
}

absl::StatusOr<Queue> Client::GetQueue(absl::string_view name) {
  v1::GetQueueRequest request;
  request.set_name(std::string(name));
  return QueueOf(Call<v1::GetQueueRequest, v1::GetQueueResponse>(connection_, std::move(request),
                                                                 &AdminMethods::GetQueue));
}

absl::StatusOr<std::vector<Queue>> Client::ListQueues() {
  std::vector<Queue> queues;
  v1::ListQueuesRequest request;
  request.set_page_size(kPageSize);
  do {
    const auto page = Call<v1::ListQueuesRequest, v1::ListQueuesResponse>(
        connection_, request, &AdminMethods::ListQueues);
    if (!page.ok()) return page.status();
    for (const v1::Queue& queue : page->queues()) queues.push_back(internal::FromProto(queue));
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return queues;
}

absl::StatusOr<Queue> Client::UpdateQueue(absl::string_view name, const QueueSettings& settings,
                                          absl::string_view etag) {
  v1::UpdateQueueRequest request;
  request.set_name(std::string(name));
  internal::ToProto(settings, request.mutable_settings());
  request.mutable_update_mask()->add_paths("*");
  request.set_etag(std::string(etag));
  return QueueOf(Call<v1::UpdateQueueRequest, v1::UpdateQueueResponse>(
      connection_, std::move(request), &AdminMethods::UpdateQueue));
}

absl::StatusOr<Queue> Client::PauseQueue(absl::string_view name, PauseMode mode,
                                         absl::string_view reason) {
  v1::PauseQueueRequest request;
  request.set_name(std::string(name));
  request.set_mode(internal::ToProto(mode));
  request.set_reason(std::string(reason));
  return QueueOf(Call<v1::PauseQueueRequest, v1::PauseQueueResponse>(
      connection_, std::move(request), &AdminMethods::PauseQueue));
}

absl::StatusOr<Queue> Client::ResumeQueue(absl::string_view name) {
  v1::ResumeQueueRequest request;
  request.set_name(std::string(name));
  return QueueOf(Call<v1::ResumeQueueRequest, v1::ResumeQueueResponse>(
      connection_, std::move(request), &AdminMethods::ResumeQueue));
}

absl::StatusOr<Task> Client::GetTask(absl::string_view task_id) {
  return GetTask({.task_id = std::string(task_id)});
}

absl::StatusOr<Task> Client::GetTask(GetTaskCall call) {
  v1::GetTaskRequest request;
  request.set_task_id(std::move(call.task_id));
  request.set_queue(std::move(call.queue));
  request.set_key(std::move(call.key));
  request.set_view(call.with_result ? v1::TASK_VIEW_FULL : v1::TASK_VIEW_BASIC);
  const auto response = internal::AwaitTask(connection_, std::move(request), call.wait);
  if (!response.ok()) return response.status();
  Task task = internal::FromProto(response->task());
  internal::DecodeResult(connection_->options(), task);
  return task;
}

}  // namespace skiplane
