#include "server/broker/operate/schedule_listing.h"

#include <optional>
#include <utility>

#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/store/schedules.h"
#include "server/store/task_view.h"

namespace skiplane::broker {
namespace {

constexpr int64_t kNoLane = 0;

}  // namespace

absl::StatusOr<std::vector<int64_t>> ScheduleListing::LanesOf(pg::Session& session,
                                                              const ListSchedulesCall& call) {
  std::vector<int64_t> lanes;
  if (call.queue.empty() && call.permit == nullptr) return lanes;
  ASSIGN_OR_RETURN(const auto queues, queues_.Visible(session, call.queue, call.permit));
  for (const QueuePtr& queue : queues) {
    lanes.insert(lanes.end(), queue->lanes.begin(), queue->lanes.end());
  }
  if (lanes.empty()) lanes.push_back(kNoLane);
  return lanes;
}

// The token of a page is made of its last task, so that it tells none that is hidden: hence goes on
// until there is one to show.
absl::StatusOr<SchedulePage> ScheduleListing::List(pg::Session& session,
                                                   const ListSchedulesCall& call) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> lanes, LanesOf(session, call));
  SchedulePage page;
  model::PlannedPlace after = call.after;
  for (;;) {
    const auto open = static_cast<size_t>(call.limit) - page.tasks.items.size();
    ASSIGN_OR_RETURN(store::PlannedTasks found, store::ListPlanned(session, after, lanes,
                                                                   static_cast<int>(open) + 1));
    const bool is_cut = found.tasks.size() > open;
    if (is_cut) found.tasks.resize(open);
    ASSIGN_OR_RETURN(const bool all_fit, Add(session, found.tasks, &page));
    if (is_cut || !all_fit) return page;
    if (!found.next.has_value()) break;
    after = *found.next;
  }
  page.next.reset();
  return page;
}

absl::StatusOr<bool> ScheduleListing::Add(pg::Session& session,
                                          const std::vector<model::PlannedPlace>& places,
                                          SchedulePage* page) {
  for (const model::PlannedPlace& place : places) {
    const store::Room room{model::kListBytesMax - page->tasks.bytes, page->tasks.items.empty()};
    ASSIGN_OR_RETURN(auto task,
                     store::GetTasks(session, place.id.lane, {place.id.id}, false, room));
    page->tasks.has_more = task.has_more;
    if (task.has_more) return false;
    page->next = place;
    page->tasks.bytes += task.bytes;
    // It may have ended meanwhile.
    if (task.items.empty() || !task.items.front().recurrence.has_value()) continue;
    ASSIGN_OR_RETURN(const QueuePtr queue, queues_.FindLane(session, place.id.lane));
    if (queue == nullptr) continue;
    model::TaskView& added = page->tasks.items.emplace_back(std::move(task.items.front()));
    added.queue = queue->name;
    added.stage_name = queue->settings.StageName(added.stage);
  }
  return true;
}

}  // namespace skiplane::broker
