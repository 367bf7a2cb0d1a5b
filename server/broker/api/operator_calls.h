// Calls of the Operator and their answers. rpc has checked what needs no database. `party`: whose
// answers and turns are counted together, see LeaseCall.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/broker/api/calls.h"
#include "server/broker/api/report_calls.h"
#include "server/broker/api/task_details.h"
#include "server/model/report.h"
#include "server/model/task_filter.h"

namespace skiplane::broker {

struct ListTasksCall {
  model::TaskFilter filter;         // its queue, or:
  std::vector<std::string> queues;
  bool newest_first = false;
  bool with_payload = false;
  int limit = 0;
  std::optional<int64_t> after;  // task number behind which the list goes on; unset: at its start
  std::string worker{};          // by its handle; empty: any or none
  std::string party{};
};

struct TaskPage {
  model::Page<model::TaskView> tasks;
  std::optional<int64_t> next;  // `after` of the next page; unset: that was all
};

enum class WaitReason {
  kNone = 1,
  kRunning = 2,
  kEnded = 3,
  kScheduled = 4,
  kRetry = 5,
  kTaskPaused = 6,
  kQueuePaused = 7,
  kBehindOthers = 8,
  kNoWorker = 9, kWorkersBusy = 10,
};

struct Explanation {
  model::TaskView task;
  std::vector<WaitReason> reasons;  // the weightiest first
  std::string text;
  int64_t ahead = 0;
  int64_t waiting_leases = 0;
  int64_t busy_workers = 0;  // of a task that is ready
};

struct ExplainTaskCall {
  model::TaskId id;
  Permit permit{};
  std::string party{};
};

struct ChangeTaskCall {
  model::TaskId id;
  model::TaskChange change;
  std::optional<model::TaskContent> content;  // of a retry: instead of what the task has
  model::Origin origin;
  Permit permit{};
  std::string party{};
};

// For a task like another one.
struct CopyTaskCall {
  model::TaskId id;   // of the other one
  bool moves = false;  // that is removed
  std::string queue;  // of the new one; empty: that of the other one
  std::string stage;  // at which it begins; empty: the first
  std::string key;    // of a copy; empty: none
  std::optional<model::TaskContent> content;  // unset: as the other one has it
  model::Origin origin;
  std::string principal{};
  Permit permit{};         // for the queue of the other one
  Permit target_permit{};  // for that of the new one
  std::string party{};
};

struct ListSchedulesCall {
  std::string queue;          // empty: all that `permit` allows
  model::PlannedPlace after;  // behind which the list goes on
  int limit = 0;
  Permit permit{};
  std::string party{};
};

struct SchedulePage {
  model::Page<model::TaskView> tasks;
  std::optional<model::PlannedPlace> next;  // `after` of the next page; unset: that was all
};

struct PreviewCall {
  std::optional<model::TaskId> task;  // or:
  std::optional<absl::Duration> period;
  std::string cron;
  std::string time_zone;
  std::optional<absl::Time> start;
  int count = 10;
  Permit permit{};  // for the task
  std::string party{};
};

struct StartBulkCall {
  model::TaskFilter filter;
  const char* queue_field = "filter.queue";  // where its queue was named
  model::TaskChange change;
  bool dry_run = false;
  absl::Duration wait;
  model::Origin origin;
  std::string party{};
};

struct DeleteQueueCall {
  std::string name;
  bool with_tasks = false;
  std::optional<int64_t> version;  // the queue stays if it has another
  absl::Duration wait;
  model::Origin origin;
  std::string party{};
};

struct GetBulkCall {
  model::SessionId id{};
  absl::Duration wait;
  Permit permit{};
  std::string party{};
};

struct StopBulkCall {
  model::SessionId id{};
  model::Origin origin;
  Permit permit{};
  std::string party{};
};

struct ListBulksCall {
  absl::Time before = absl::InfiniteFuture();
  model::SessionId before_id{};
  int limit = 0;
  Permit permit{};  // operations on queues that it refuses are left out
  std::string party{};
};

}  // namespace skiplane::broker
