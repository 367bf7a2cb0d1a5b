// Bulk operations as rows: whichever broker has time makes their steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/model/report.h"
#include "server/pg/session.h"
#include "server/store/task_change.h"

namespace skiplane::store {

struct NewBulk {
  model::SessionId id{};
  int64_t queue_id = 0;
  model::TaskFilter filter;
  std::optional<int16_t> stage;  // of the filter; its name may change
  model::TaskChange change;
  bool dry_run = false;
  std::vector<int64_t> lanes;
  std::string actor;
};

// Operations of one queue that run at a time, those that only count included: who may operate one
// queue cannot keep the steps of others' waiting for long.
inline constexpr int kRunningBulksMax = 100;

// TOO_MANY_BULK_OPERATIONS, with a second to wait, if as many of its queue run; the deletion of the
// queue is begun all the same.
absl::Status CreateBulk(pg::Session& session, const NewBulk& bulk);

// Where an operation is.
struct BulkCursor {
  model::TaskFilter filter;
  std::optional<int16_t> stage;
  model::TaskChange change;
  bool dry_run = false;
  std::vector<int64_t> lanes;  // still to be gone through, the first one being at hand
  TaskTable table = TaskTable::kLiving;
  int64_t after = 0;
};

// In a transaction: the operation is the caller's until its end. Nothing if it does not run, or
// somebody else is at it.
absl::StatusOr<std::optional<BulkCursor>> ClaimBulk(pg::Session& session,
                                                    const model::SessionId& id);

struct BulkProgress {
  int64_t scanned = 0;
  int64_t matched = 0;
  int64_t changed = 0;
};

// An empty `cursor.lanes` says that the operation is done.
absl::Status AdvanceBulk(pg::Session& session, const model::SessionId& id,
                         const BulkCursor& cursor, const BulkProgress& progress);

// OPERATION_NOT_FOUND.
absl::Status BulkNotFound();

// OPERATION_NOT_FOUND if nothing is known of it.
absl::StatusOr<model::BulkOperation> GetBulk(pg::Session& session, const model::SessionId& id);

// Those of them that are known.
absl::StatusOr<std::vector<model::BulkOperation>> GetBulks(
    pg::Session& session, absl::Span<const model::SessionId> ids);

// The latest first, those before `before` (created, id).
absl::StatusOr<model::Page<model::BulkOperation>> ListBulks(pg::Session& session,
                                                            absl::Time before,
                                                            const model::SessionId& before_id,
                                                            int limit, int64_t bytes_max);

// Whether it ran until now. OPERATION_NOT_FOUND if nothing is known of it.
absl::StatusOr<bool> StopBulk(pg::Session& session, const model::SessionId& id);

// Operations that run, but whose broker makes no steps.
absl::StatusOr<std::vector<model::SessionId>> IdleBulks(pg::Session& session);

}  // namespace skiplane::store
