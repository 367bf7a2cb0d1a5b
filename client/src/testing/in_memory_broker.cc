// What producers and workers ask of an InMemoryBroker, and the test itself.
#include <iterator>
#include <mutex>
#include <utility>

#include "client/src/testing/memory_state.h"
#include "client/src/testing/memory_worker.h"
#include "client/src/worker/check.h"
#include "skiplane/testing.h"

namespace skiplane {

using Lock = std::lock_guard<std::mutex>;

InMemoryBroker::InMemoryBroker(InMemoryOptions options)
    : state_(std::make_shared<internal::MemoryState>(options)) {}

InMemoryBroker::~InMemoryBroker() { state_->StopAll(); }

absl::Time InMemoryBroker::Now() const {
  const Lock lock(state_->mutex);
  return state_->store.now();
}

void InMemoryBroker::Advance(absl::Duration duration) { state_->Advance(duration); }

int InMemoryBroker::RunUntilIdle() { return state_->RunUntilIdle(); }

int InMemoryBroker::RunFor(absl::Duration duration) { return state_->RunFor(duration); }

bool InMemoryBroker::RunOne() { return state_->RunOne(); }

std::vector<StoredTask> InMemoryBroker::Tasks(absl::string_view queue) const {
  const Lock lock(state_->mutex);
  return state_->store.Tasks(queue);
}

std::vector<StoredTask> InMemoryBroker::Tasks(absl::string_view queue, TaskState state) const {
  std::vector<StoredTask> tasks = Tasks(queue);
  std::erase_if(tasks, [state](const StoredTask& stored) { return stored.task.state != state; });
  return tasks;
}

void InMemoryBroker::FailEnqueues(int calls, absl::Status error) {
  const Lock lock(state_->mutex);
  state_->enqueues_to_fail = calls;
  state_->enqueue_error = std::move(error);
}

absl::Status InMemoryBroker::Cancel(absl::string_view task_id) {
  const Lock lock(state_->mutex);
  return state_->store.Cancel(task_id);
}

absl::Status InMemoryBroker::Retry(absl::string_view task_id) {
  const Lock lock(state_->mutex);
  return state_->store.Retry(task_id);
}

absl::Status InMemoryBroker::Trigger(absl::string_view task_id) {
  const Lock lock(state_->mutex);
  return state_->store.Trigger(task_id);
}

absl::Status InMemoryBroker::LoseLease(absl::string_view task_id) {
  const Lock lock(state_->mutex);
  return state_->store.LoseLease(task_id);
}

absl::StatusOr<EnqueueResult> InMemoryBroker::Enqueue(absl::string_view queue, NewTask task) {
  EnqueueCall call{.queue = std::string(queue)};
  call.tasks.push_back(std::move(task));
  auto results = Enqueue(std::move(call));
  if (!results.ok()) return results.status();
  return std::move(results->front());
}

absl::StatusOr<std::vector<EnqueueResult>> InMemoryBroker::Enqueue(EnqueueCall call) {
  const Lock lock(state_->mutex);
  if (state_->enqueues_to_fail > 0) {
    --state_->enqueues_to_fail;
    if (!state_->enqueue_error.ok()) return state_->enqueue_error;
  }
  return state_->store.Enqueue(std::move(call));
}

PendingCall InMemoryBroker::EnqueueAsync(EnqueueCall call, Done<std::vector<EnqueueResult>> done) {
  done(Enqueue(std::move(call)));
  return PendingCall();
}

absl::StatusOr<Task> InMemoryBroker::GetTask(absl::string_view task_id) {
  return GetTask(GetTaskCall{.task_id = std::string(task_id)});
}

absl::StatusOr<Task> InMemoryBroker::GetTask(GetTaskCall call) {
  if (call.wait > absl::ZeroDuration()) state_->RunUntilIdle();
  const Lock lock(state_->mutex);
  const auto found = call.task_id.empty() ? state_->store.Find(call.queue, call.key)
                                          : state_->store.Find(call.task_id);
  if (!found.ok()) return found.status();
  Task task = state_->store.View(**found);
  if (!call.with_result) task.result.clear();
  return task;
}

absl::StatusOr<LeaseAnswer> InMemoryBroker::Lease(LeaseCall call) {
  const Lock lock(state_->mutex);
  if (const absl::Status status = state_->store.CheckLease(call); !status.ok()) return status;
  return state_->store.Lease(call);
}

absl::StatusOr<std::vector<SettleResult>> InMemoryBroker::Ack(std::vector<AckItem> items) {
  return Settle({std::make_move_iterator(items.begin()), std::make_move_iterator(items.end())});
}

absl::StatusOr<std::vector<SettleResult>> InMemoryBroker::Nack(std::vector<NackItem> items) {
  return Settle({std::make_move_iterator(items.begin()), std::make_move_iterator(items.end())});
}

absl::StatusOr<std::vector<SettleResult>> InMemoryBroker::Settle(std::vector<SettleItem> items) {
  const Lock lock(state_->mutex);
  return state_->store.Settle(items);
}

absl::StatusOr<SettleAndLeaseAnswer> InMemoryBroker::SettleAndLease(std::vector<SettleItem> items,
                                                                    LeaseCall next) {
  const Lock lock(state_->mutex);
  if (const absl::Status status = state_->store.CheckLease(next); !status.ok()) return status;
  auto results = state_->store.Settle(items);
  if (!results.ok()) return results.status();
  return SettleAndLeaseAnswer{.results = *std::move(results), .lease = state_->store.Lease(next)};
}

absl::StatusOr<HeartbeatAnswer> InMemoryBroker::Heartbeat(HeartbeatCall call) {
  const Lock lock(state_->mutex);
  return state_->store.Heartbeat(call);
}

absl::StatusOr<std::unique_ptr<RunningWorker>> InMemoryBroker::StartWorker(WorkerOptions options,
                                                                           Handler handler) {
  if (const absl::Status status = internal::Check(options, handler); !status.ok()) return status;
  auto crew = state_->AddCrew(std::move(options), std::move(handler));
  return std::make_unique<internal::MemoryWorker>(state_, std::move(crew));
}

}  // namespace skiplane
