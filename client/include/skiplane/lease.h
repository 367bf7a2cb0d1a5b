// One leased task together with the right to settle it, once.
//
//   auto lease = client->LeaseOne("mail", absl::Seconds(20));
//   if (lease.ok() && *lease) {
//     Send((*lease)->task().payload);
//     auto outcome = std::move(**lease).Ack();
//   }
//
// Settling consumes the handle, so that acking twice does not compile. If a handle is dropped
// unsettled, its lease expires: the task goes to another worker and the attempt is charged.
// An invalid call is refused with an error, as INVALID_ARGUMENT, and leaves the handle unchanged.
// Not for many tasks at a time: use Worker, or Client::Ack with a batch. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "skiplane/ack.h"
#include "skiplane/task.h"

namespace skiplane {

class Client;

class TaskLease {
 public:
  TaskLease(TaskLease&&) noexcept;
  TaskLease& operator=(TaskLease&&) noexcept;
  ~TaskLease();
  TaskLease(const TaskLease&) = delete;
  TaskLease& operator=(const TaskLease&) = delete;

  const LeasedTask& task() const { return task_; }

  // The work is done. `result` is its output, `more` what follows it (ack.h).
  absl::StatusOr<SettleOutcome> Ack(std::string result = {}, AckMore more = {}) &&;

  // The attempt failed; it runs again after `delay`, or after the queue's retry delay.
  absl::StatusOr<SettleOutcome> Retry(TaskError error,
                                      std::optional<absl::Duration> delay = std::nullopt) &&;

  // The task failed for good.
  absl::StatusOr<SettleOutcome> Fail(TaskError error) &&;

  // Returns the task to the queue; the attempt is not charged.
  absl::StatusOr<SettleOutcome> Release() &&;

 private:
  friend class Client;
  TaskLease(Client client, LeasedTask task);

  std::unique_ptr<Client> client_;
  LeasedTask task_;
};

}  // namespace skiplane
