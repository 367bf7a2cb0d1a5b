// The queues and tasks of a broker in memory, and their time. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/src/testing/memory_task.h"
#include "client/src/testing/queue_table.h"
#include "skiplane/calls.h"
#include "skiplane/testing.h"

namespace skiplane::internal {

class MemoryStore {
 public:
  explicit MemoryStore(const InMemoryOptions& options)
      : queues_(options.creates_queues), now_(options.now) {}

  QueueTable& queues() { return queues_; }
  absl::Time now() const { return now_; }
  void Advance(absl::Duration duration);
  // When a waiting task is due that is not due yet.
  std::optional<absl::Time> NextDue() const;

  absl::StatusOr<std::vector<EnqueueResult>> Enqueue(EnqueueCall call);

  // The most urgent ready task, of the queues in their order; null: none. Not one of `but`.
  MemoryTask* NextReady(const std::vector<LeaseQueue>& queues, const std::set<int64_t>& but = {});
  LeasedTask LeaseTo(MemoryTask& task, const std::string& worker_id,
                     const std::string& worker_name, absl::Time end);
  absl::Status CheckLease(const LeaseCall& call);
  // Of a call that is checked.
  LeaseAnswer Lease(const LeaseCall& call);
  absl::StatusOr<std::vector<SettleResult>> Settle(const std::vector<SettleItem>& items);
  HeartbeatAnswer Heartbeat(const HeartbeatCall& call);
  // The task that the token is the current lease of; else null.
  MemoryTask* Leased(absl::string_view token);

  // TASK_NOT_FOUND.
  absl::StatusOr<MemoryTask*> Find(absl::string_view task_id);
  absl::StatusOr<MemoryTask*> Find(absl::string_view queue, absl::string_view key);
  Task View(const MemoryTask& task) const;
  std::vector<StoredTask> Tasks(absl::string_view queue) const;
  QueueCounts Count(absl::string_view queue) const;

  absl::Status Cancel(absl::string_view task_id);
  absl::Status Retry(absl::string_view task_id);
  absl::Status Trigger(absl::string_view task_id);
  absl::Status LoseLease(absl::string_view task_id);

 private:
  using Key = std::pair<std::string, std::string>;  // a queue and a key in it
  struct Answered {
    std::vector<NewTask> tasks;
    std::vector<EnqueueResult> results;
  };

  const QueueSettings& SettingsOf(const MemoryTask& task) const {
    return queues_.At(task.queue).settings;
  }
  absl::Status CheckNew(const NewTask& task, const std::string& at,
                        const std::string& queue_field);
  absl::Status CheckCall(EnqueueCall& call);
  absl::Status CheckRoom(const EnqueueCall& call);
  absl::Status CheckKeys(const EnqueueCall& call);
  EnqueueResult Put(NewTask task);
  EnqueueOutcome Change(MemoryTask& known, NewTask task);

  absl::StatusOr<int64_t> NumberOf(absl::string_view token, const std::string& field) const;
  SettleResult SettleOne(const SettleItem& item, int64_t number);
  absl::Status CheckAck(const MemoryTask& task, const AckItem& item);
  void Ack(MemoryTask& task, const AckItem& item, SettleResult& result);
  void Nack(MemoryTask& task, const NackItem& item);

  QueueTable queues_;
  absl::Time now_;
  std::map<int64_t, MemoryTask> tasks_;
  std::map<Key, int64_t> keys_;
  std::map<Key, Answered> answered_;         // by the first queue and the request id
  std::map<std::string, bool> was_acked_;    // by the token of what is settled
};

}  // namespace skiplane::internal
