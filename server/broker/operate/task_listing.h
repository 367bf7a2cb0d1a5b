// Lists of tasks: those of several lanes and tables as one, in the order of their ids. Each is read
// by itself, some tasks at a time, and what lies behind the nearest end of what was read is left
// to the next step. All methods run on a session of the pool. Thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/broker/api/operator_calls.h"
#include "server/broker/queues/queue_cache.h"
#include "server/store/task_change.h"
#include "server/store/task_view.h"

namespace skiplane::broker {

class TaskListing {
 public:
  explicit TaskListing(QueueCache& queues) : queues_(queues) {}

  absl::StatusOr<TaskPage> List(pg::Session& session, const ListTasksCall& call);

 private:
  struct Place {
    QueuePtr queue;
    std::optional<int16_t> stage;
    int64_t lane = 0;
    store::TaskTable table = store::TaskTable::kLiving;
  };
  struct Found {
    int64_t id = 0;
    int64_t lane = 0;
    const model::Queue* queue = nullptr;
  };
  struct Slice {
    std::vector<Found> found;     // in the order of the list, none behind `end`
    std::optional<int64_t> end;  // unset: there is no more
  };

  absl::StatusOr<TaskPage> ListMatches(pg::Session& session, const ListTasksCall& call);
  absl::StatusOr<std::vector<Place>> PlacesOf(pg::Session& session, const ListTasksCall& call);
  absl::Status AddPlaces(pg::Session& session, const ListTasksCall& call, absl::string_view name,
                         absl::string_view field, std::vector<Place>* places);
  absl::StatusOr<Slice> Read(pg::Session& session, const ListTasksCall& call,
                             const std::vector<Place>& places, int64_t after);
  absl::StatusOr<model::Page<model::TaskView>> ReadRun(pg::Session& session,
                                                       const ListTasksCall& call, int64_t lane,
                                                       const store::Room& room,
                                                       std::vector<int64_t>* ids);
  // Adds those of `found` that fit, and returns the id of the last one that it came to; `after` if
  // it came to none.
  absl::StatusOr<int64_t> Add(pg::Session& session, const ListTasksCall& call,
                              const std::vector<Found>& found, int64_t after,
                              model::Page<model::TaskView>* page);

  QueueCache& queues_;
};

}  // namespace skiplane::broker
