// Puts tasks into lanes: one statement for the tasks of many calls, all or none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/model/task.h"
#include "server/pg/session.h"
#include "server/store/lease.h"

namespace skiplane::store {

// How many task numbers one block has.
inline constexpr int64_t kTaskIdBlock = 4096;

struct TaskRow {
  model::TaskId id;
  const model::NewTask* task;
  int32_t max_attempts;
  int64_t call = 0;   // the first id of its call if that has a request id, else 0
  int16_t stage = 0;  // at which it begins

  // Ready once it is made. A delay of none is as good as no delay.
  bool IsImmediate() const {
    return !task->schedule_time.has_value() &&
           task->delay.value_or(absl::ZeroDuration()) <= absl::ZeroDuration();
  }
};

struct RequestRow {
  int64_t lane;
  std::string request_id;
  std::string body_hash;
  int64_t first_id;
};

// Tasks of one lane, stage and priority that a commit left without a lease: ready, or at
// schedule_time. What the scheduler must know of it.
struct UnleasedTasks {
  int64_t lane = 0;
  int16_t stage = 0;
  int16_t priority = 0;
  bool is_ready = false;  // else they will be at schedule_time, the least of theirs
  int64_t count = 0;
  absl::Time schedule_time;
  bool may_be_packed = false;
};

// Leases to workers that wait, by the statement that makes the tasks.
struct HandOff {
  std::vector<LeaseCaller> callers;
  std::vector<int32_t> takers;  // one per task: index + 1 into callers; 0: nobody
};

struct Enqueued {
  std::vector<UnleasedTasks> unleased;
  absl::Time now;                         // the database's
  absl::Time began;                       // of EnqueueAsked and EnqueueOnce: its transaction
  // Of these two: the ids that are new tasks; and, by the ids that tasks were to get, the tasks
  // that were changed instead, and those that have their keys and were left as they are.
  absl::flat_hash_set<int64_t> made;
  absl::flat_hash_map<int64_t, model::EnqueueResult> changed;
  absl::flat_hash_map<int64_t, model::EnqueueResult> existing;
  std::vector<LeasedRow> leased;  // of a hand-off; callers are indexes into its own
};

// Tasks without keys, of calls without request ids, not periodic, that begin at the first stage.
absl::StatusOr<Enqueued> Enqueue(pg::Session& session, absl::Span<const TaskRow> tasks);

// As Enqueue, of calls with request ids, too. What an id knows already is left out of `made`. The
// tasks of a hand-off, which are to be ready at once, are leased if their sessions live.
// kAlreadyExists: as of Lease, and nothing was made.
absl::StatusOr<Enqueued> EnqueueAsked(pg::Session& session, absl::Span<const TaskRow> tasks,
                                      absl::Span<const RequestRow> requests,
                                      const HandOff* hand_off = nullptr);

// Tasks of any kind. What a key or a request id knows already is left out of `made`. ABORTED when
// tasks or keys changed beside the statement: try again. ALREADY_EXISTS when a key is held whose
// policy is to reject that. In both cases nothing was done.
absl::StatusOr<Enqueued> EnqueueOnce(pg::Session& session, absl::Span<const TaskRow> tasks,
                                     absl::Span<const RequestRow> requests);

// What statements that make tasks of calls with request ids share: their parameters, and their
// rows, with a reader for those of tasks that were leased at once.
void BindRequests(absl::Span<const RequestRow> requests, pg::Params& params);
Enqueued ReadAsked(const pg::Rows& rows, absl::Span<const TaskRow> tasks,
                   absl::FunctionRef<void(int, Enqueued&)> read_leased);

// The first of kTaskIdBlock numbers that are the caller's alone.
absl::StatusOr<int64_t> NextTaskIds(pg::Session& session);

struct KeyHolder {
  int64_t task = 0;
  model::TaskState state = model::TaskState::kReady;  // that it is in now
  std::optional<absl::Time> end_time;
};

// Which task holds each key; keys that nobody holds are missing.
absl::StatusOr<absl::flat_hash_map<std::string, KeyHolder>> HeldKeys(
    pg::Session& session, int64_t lane, absl::Span<const absl::string_view> keys);

struct AnsweredRequest {
  int64_t body_hash = 0;  // model::LeadingInt64 of the whole one
  int64_t first_id = 0;
  absl::Time began;  // the transaction of the call that was answered
};

// What was answered to request ids; unknown ones are missing.
absl::StatusOr<absl::flat_hash_map<std::string, AnsweredRequest>> AnsweredRequests(
    pg::Session& session, int64_t lane, absl::Span<const absl::string_view> request_ids);

// Which of some tasks of a lane live.
absl::StatusOr<absl::flat_hash_set<int64_t>> LivingTasks(pg::Session& session, int64_t lane,
                                                         absl::Span<const int64_t> ids);

}  // namespace skiplane::store
