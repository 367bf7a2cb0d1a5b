#include "client/src/await_task.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "client/src/call.h"
#include "client/src/convert_time.h"

namespace skiplane::internal {
namespace {

constexpr absl::Duration kWaitMax = absl::Seconds(60);  // of one call

bool HasEnded(v1::TaskState state) {
  return state == v1::TASK_STATE_SUCCEEDED || state == v1::TASK_STATE_FAILED ||
         state == v1::TASK_STATE_CANCELLED;
}

}  // namespace

absl::StatusOr<v1::GetTaskResponse> AwaitTask(const std::shared_ptr<Connection>& connection,
                                              v1::GetTaskRequest request, absl::Duration wait) {
  const absl::Time end = absl::Now() + wait;
  while (true) {
    const absl::Duration left =
        std::clamp(end - absl::Now(), absl::ZeroDuration(), kWaitMax);
    if (wait > absl::ZeroDuration()) ToProto(left, request.mutable_wait());
    absl::StatusOr<v1::GetTaskResponse> answer =
        Call<v1::GetTaskRequest, v1::GetTaskResponse>(connection, request,
                                                      &AdminMethods::GetTask, left);
    // A broker that drains answers before the time is over: another one may wait on.
    if (!answer.ok() || HasEnded(answer->task().state()) || absl::Now() >= end) return answer;
  }
}

}  // namespace skiplane::internal
