// Finds tasks by a filter, step by step, and changes tasks as operators want it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/model/queue.h"
#include "server/model/report.h"
#include "server/model/task_filter.h"
#include "server/pg/session.h"
#include "server/store/enqueue.h"

namespace skiplane::store {

// Where tasks are looked for, in this order; the numbers are those of bulk operations.
enum class TaskTable : int16_t { kLiving = 1, kFailed = 2, kFinished = 3 };

// The tables that hold tasks of these states, in order.
std::vector<TaskTable> TablesOf(const model::TaskStates& states);

struct Step {
  TaskTable table = TaskTable::kLiving;
  int64_t lane = 0;
  int64_t after = 0;  // id behind which to look
  int rows = 0;       // to look at
  int matches = 0;    // to return
  bool newest_first = false;  // ids that fall
};

struct Matches {
  int64_t scanned = 0;
  std::optional<int64_t> next_after;  // unset: there is no more
  std::vector<int64_t> ids;           // in the order of the step
};

// `stage` is the number of the filter's stage, if it names one.
absl::StatusOr<Matches> FindTasks(pg::Session& session, const Step& step,
                                  const model::TaskFilter& filter, std::optional<int16_t> stage);

// What became of one task.
struct Changed {
  int64_t id = 0;
  UnleasedTasks unleased;  // count 0: it cannot be leased
};

struct Changes {
  int64_t lane = 0;
  std::vector<Changed> tasks;  // those that were changed; the others' states did not allow it
  int64_t cancelled = 0;       // of them, those that ended so at once
  std::vector<int64_t> ended;  // of them, those that do not live any more
  absl::Time now;
};

// Those of them that can be leased, now or later.
std::vector<UnleasedTasks> UnleasedOf(const Changes& changes);

// Living tasks (TaskTable::kLiving) or failed ones (TaskTable::kFailed) of one lane.
absl::StatusOr<Changes> ChangeTasks(pg::Session& session, TaskTable table, int64_t lane,
                                    absl::Span<const int64_t> ids, const model::TaskChange& change,
                                    const model::QueueSettings& settings);

// Gives a waiting task other content, in the transaction of a change that has its row. Of a
// periodic one at a later stage only for this run.
absl::Status ReplaceContent(pg::Session& session, const model::TaskId& id,
                            const model::TaskContent& content);

absl::Status AddAudit(pg::Session& session, const model::Origin& origin, const std::string& queue,
                      int64_t changed);

struct AuditFilter {
  std::string queue{};    // empty: any
  std::string task_id{};  // empty: any
  std::string actor{};    // empty: any
  absl::Time start = absl::InfinitePast();
  absl::Time end = absl::InfiniteFuture();
};

struct AuditPage {
  model::Page<model::AuditRecord> records;
  std::optional<int64_t> before;  // unset: there is nothing older
};

// The latest first; `before` is an id. A part of the records is looked at, so that a page may have
// none and not be the last.
absl::StatusOr<AuditPage> ListAudit(pg::Session& session, const AuditFilter& filter, int64_t before,
                                    int limit, int64_t bytes_max);

}  // namespace skiplane::store
