#include "skiplane/lease.h"

#include <utility>
#include <vector>

#include "client/src/content.h"
#include "skiplane/client.h"

namespace skiplane {
namespace {

// A refusal is the failure of a call that has but one item.
absl::StatusOr<SettleOutcome> OutcomeOf(const SettleResult& result) {
  if (result.outcome == SettleOutcome::kRefused && !result.refusal.ok()) return result.refusal;
  return result.outcome;
}

absl::StatusOr<SettleOutcome> NackOne(Client client, NackItem item) {
  std::vector<NackItem> items;
  items.push_back(std::move(item));
  const auto results = client.Nack(std::move(items));
  if (!results.ok()) return results.status();
  return OutcomeOf(results->front());
}

}  // namespace

TaskLease::TaskLease(Client client, LeasedTask task)
    : client_(std::make_unique<Client>(std::move(client))), task_(std::move(task)) {}

TaskLease::TaskLease(TaskLease&&) noexcept = default;
TaskLease& TaskLease::operator=(TaskLease&&) noexcept = default;
TaskLease::~TaskLease() = default;

absl::StatusOr<SettleOutcome> TaskLease::Ack(std::string result, AckMore more) && {
  std::vector<AckItem> items;
  items.push_back({.lease_token = task_.lease_token,
                   .result = std::move(result),
                   .more = std::move(more),
                   .queue = task_.queue});
  const auto results = client_->Ack(std::move(items));
  if (!results.ok()) return results.status();
  return OutcomeOf(results->front());
}

absl::StatusOr<SettleOutcome> TaskLease::Retry(TaskError error,
                                               std::optional<absl::Duration> delay) && {
  return NackOne(*client_, {.lease_token = task_.lease_token,
                            .disposition = Disposition::kRetry,
                            .retry_delay = delay,
                            .error = std::move(error)});
}

absl::StatusOr<SettleOutcome> TaskLease::Fail(TaskError error) && {
  return NackOne(*client_, {.lease_token = task_.lease_token,
                            .disposition = Disposition::kFail,
                            .error = std::move(error)});
}

absl::StatusOr<SettleOutcome> TaskLease::Release() && {
  return NackOne(*client_,
                 {.lease_token = task_.lease_token, .disposition = Disposition::kRelease});
}

absl::StatusOr<std::optional<TaskLease>> Client::LeaseOne(absl::string_view queue,
                                                          absl::Duration wait,
                                                          absl::Duration duration) {
  LeaseCall call{.wait = wait, .lease_duration = duration};
  call.queues.push_back({.name = std::string(queue)});
  auto answer = Lease(std::move(call));
  if (!answer.ok()) return answer.status();
  if (answer->tasks.empty()) return std::optional<TaskLease>();
  TaskLease lease(*this, std::move(answer->tasks.front()));
  if (const absl::Status status = lease.task().content_status; !status.ok()) {
    // Whether the nack arrives or the lease expires: the attempt has failed.
    (void)std::move(lease).Retry(internal::NotDecoded(status));
    return status;
  }
  return std::optional<TaskLease>(std::move(lease));
}

}  // namespace skiplane
