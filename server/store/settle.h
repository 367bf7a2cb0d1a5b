// Ends attempts: acks, nacks, releases. The row decides: a token whose lease number or session
// differs from the row's changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/model/lease.h"
#include "server/model/queue.h"
#include "server/pg/session.h"

namespace skiplane::store {

// What shall be done with an attempt; the numbers are those of the database.
enum class Action : int16_t {
  kAck = 1,
  kRetry = 2,
  kFail = 3,
  kLost = 4,    // its worker fell silent
  kCancel = 5,  // an outcome only: an operator had cancelled the task
  kRelease = 6,
  kHang = 7,  // it ran too long
};

struct SettleRow {
  model::LeaseToken token;
  Action action = Action::kAck;
  absl::Duration delay;                     // of kRetry
  const model::TaskError* error = nullptr;  // of a failed attempt; may be null
  // Of kAck:
  std::optional<int16_t> next_stage;  // unset: the task has passed its last stage
  const model::TaskContent* next_content = nullptr;  // null: as it was
  absl::string_view result;
};

struct SettleBatch {
  int64_t lane = 0;
  model::QueueSettings settings;
  std::vector<SettleRow> rows;     // ordered by task id
  std::vector<pg::Uuid> ledgers;   // rows whose last task is among them
  int64_t try_id = 0;              // for Recall; 0: nobody will ask
};

// What was done with one row of a batch.
struct Settled {
  size_t index = 0;  // into SettleBatch::rows
  Action outcome = Action::kAck;  // kFail also when no attempts were left
  std::optional<absl::Time> schedule_time;  // set when the task runs again
  int16_t priority = 0;
  int16_t stage = 0;
  absl::Time now;
};

// What became of a task that was settled; the numbers are those of the database.
enum class Transition : int16_t {
  kSucceeded = 1,
  kFailed = 3,
  kCancelled = 5,
  kStartsAfresh = 10,         // newer content came
  kMovesOn = 11,              // to its next stage
  kWaitsForPlannedTime = 12,  // periodic
  kIsRetried = 13,
  kGoesBack = 14,  // to its position
};

// How many ids one row of `settled` may span, of a batch that is ordered by id. Where they lie far
// apart, as of leases that are acked in any order, a large one is split into rows of some 16 tasks:
// a settlement that is repeated has to look into each row that spans its task.
int64_t IdsPerSettledRow(const std::vector<SettleRow>& rows);

// Acks by the row locations of their leases: fast, and misses rows that have moved since.
// Returns the indexes of the rows that were acked; if there are any, `now`, unless it is null, gets
// the time at which they were. The rows are all packed, or none is.
absl::StatusOr<std::vector<size_t>> AckByLocation(pg::Session& session, const SettleBatch& batch,
                                                  absl::Time* now = nullptr);

// Any action, by id. Rows that are missing from the answer were not settled: see Classify.
absl::StatusOr<std::vector<Settled>> Settle(pg::Session& session, const SettleBatch& batch);

// Keys that follow-ups of a settlement have: one element of each for each key.
struct FollowUpKeys {
  std::vector<int64_t> lanes;
  std::vector<absl::string_view> keys;
};

// In a transaction: these tasks stay as they are until it ends, so that none changes beside
// Settle(). With `follow_ups`, so do the tasks of their keys, and the keys of all of these tasks:
// locked in the one order of all locks, which an enqueue after Settle() would not be.
absl::Status LockTasks(pg::Session& session, int64_t lane, absl::Span<const int64_t> ids,
                       const FollowUpKeys& follow_ups = {});

// What is known of a lease that could not be settled.
struct LeaseStatus {
  bool is_held = false;               // by this very lease: a race; settle it again
  bool lives = false;                 // the task waits or belongs to another lease
  std::optional<Action> settled_as;   // how this lease was settled, in the last hour
  bool was_finished = false;          // the task ended under another lease
};

// One per token, in order.
absl::StatusOr<std::vector<LeaseStatus>> Classify(pg::Session& session, int64_t lane,
                                                  absl::Span<const model::LeaseToken> tokens);

// A settlement whose commit has an unknown outcome: that it happened, and what it did.
struct Recalled {
  size_t index = 0;  // into the items that were asked for
  Action outcome = Action::kAck;  // 1 for every ack
  Transition transition = Transition::kSucceeded;
  absl::Time settle_time;
  // The task's, unless it ended or was settled again since.
  std::optional<absl::Time> schedule_time;
  int16_t priority = 0;
  absl::Time now;
};

struct RecallItem {
  model::LeaseToken token;
  std::vector<int64_t> tries;  // ids of those whose outcome is unknown
};

// Those of `items` that one of their own tries has settled.
absl::StatusOr<std::vector<Recalled>> Recall(pg::Session& session, int64_t lane,
                                             const std::vector<RecallItem>& items);

}  // namespace skiplane::store
