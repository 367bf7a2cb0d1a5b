#include "server/broker/operate/task_listing.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/store/reports.h"

namespace skiplane::broker {
namespace {

// A page looks at about this many tasks at most, a few milliseconds' work in each step; at fewer
// where their payloads are read.
constexpr int kRowsPerSlice = 2000;
constexpr int kPayloadsPerSlice = 200;
constexpr int kRowsPerPlaceLeast = 20;
constexpr int kStepsPerPage = 10;
constexpr size_t kStatementsPerPage = 600;

int RowsPerPlace(const ListTasksCall& call, size_t places) {
  const int rows = call.filter.payload_text.empty() ? kRowsPerSlice : kPayloadsPerSlice;
  return std::max(kRowsPerPlaceLeast, rows / static_cast<int>(places));
}

model::TaskStates OnlyLeased() {
  model::TaskStates states;
  states.leased = true;
  return states;
}

// Whether `a` comes before `b`.
bool IsBefore(const ListTasksCall& call, int64_t a, int64_t b) {
  return call.newest_first ? a > b : a < b;
}

// The first tasks of a lane: as many as follow each other in the list.
template <typename Found>
std::vector<int64_t> RunOf(absl::Span<const Found> found) {
  std::vector<int64_t> ids;
  for (const Found& one : found) {
    if (one.lane != found.front().lane) break;
    ids.push_back(one.id);
  }
  return ids;
}

}  // namespace

absl::StatusOr<TaskPage> TaskListing::List(pg::Session& session, const ListTasksCall& call) {
  if (call.worker.empty()) return ListMatches(session, call);
  ASSIGN_OR_RETURN(std::vector<model::TaskId> held,
                   store::TasksOfWorker(session, call.worker, model::kTasksPerCallMax));
  const auto& ids = call.filter.ids;
  std::erase_if(held, [&ids](const model::TaskId& id) {
    return !ids.empty() && std::find(ids.begin(), ids.end(), id) == ids.end();
  });
  ListTasksCall narrow = call;
  narrow.filter.states = call.filter.states.leased ? OnlyLeased() : model::TaskStates();
  narrow.filter.ids = std::move(held);
  // The call is checked, whether or not there is something to look at.
  if (narrow.filter.ids.empty() || narrow.filter.states.IsEmpty()) {
    RETURN_IF_ERROR(PlacesOf(session, call).status());
    return TaskPage();
  }
  return ListMatches(session, narrow);
}

absl::StatusOr<TaskPage> TaskListing::ListMatches(pg::Session& session,
                                                  const ListTasksCall& call) {
  ASSIGN_OR_RETURN(const std::vector<Place> places, PlacesOf(session, call));
  TaskPage page;
  if (places.empty()) return page;
  int64_t after = call.after.value_or(
      call.newest_first ? std::numeric_limits<int64_t>::max() : int64_t{0});
  const size_t steps = std::max<size_t>(1, kStatementsPerPage / places.size());
  for (size_t step = 0; step < std::min<size_t>(kStepsPerPage, steps); ++step) {
    ASSIGN_OR_RETURN(const Slice slice, Read(session, call, places, after));
    ASSIGN_OR_RETURN(const int64_t last, Add(session, call, slice.found, after, &page.tasks));
    const bool is_cut = !slice.found.empty() && last != slice.found.back().id;
    if (!is_cut && !slice.end.has_value()) return page;
    after = is_cut ? last : *slice.end;
    if (is_cut || static_cast<int>(page.tasks.items.size()) >= call.limit) break;
  }
  page.next = after;
  return page;
}

absl::StatusOr<std::vector<TaskListing::Place>> TaskListing::PlacesOf(pg::Session& session,
                                                                      const ListTasksCall& call) {
  std::vector<Place> places;
  if (call.queues.empty()) {
    RETURN_IF_ERROR(AddPlaces(session, call, call.filter.queue, "filter.queue", &places));
  }
  for (size_t i = 0; i < call.queues.size(); ++i) {
    // A queue that is named again is listed once.
    if (std::find(call.queues.begin(), call.queues.begin() + static_cast<int64_t>(i),
                  call.queues[i]) != call.queues.begin() + static_cast<int64_t>(i)) {
      continue;
    }
    RETURN_IF_ERROR(AddPlaces(session, call, call.queues[i], absl::StrCat("queues[", i, "]"),
                              &places));
  }
  return places;
}

absl::Status TaskListing::AddPlaces(pg::Session& session, const ListTasksCall& call,
                                    absl::string_view name, absl::string_view field,
                                    std::vector<Place>* places) {
  ASSIGN_OR_RETURN(const QueuePtr queue, queues_.GetExisting(session, std::string(name), field));
  ASSIGN_OR_RETURN(const auto stage,
                   queues_.StageOf(session, queue, call.filter.stage, "filter.stage"));
  const auto& ids = call.filter.ids;
  for (const int64_t lane : queue->lanes) {
    const auto is_there = [lane](const model::TaskId& id) { return id.lane == lane; };
    if (!ids.empty() && std::none_of(ids.begin(), ids.end(), is_there)) continue;
    for (const store::TaskTable table : store::TablesOf(call.filter.states)) {
      places->push_back({queue, stage, lane, table});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TaskListing::Slice> TaskListing::Read(pg::Session& session,
                                                     const ListTasksCall& call,
                                                     const std::vector<Place>& places,
                                                     int64_t after) {
  Slice slice;
  const int rows = RowsPerPlace(call, places.size());
  for (const Place& place : places) {
    const store::Step step{place.table, place.lane, after, rows, call.limit, call.newest_first};
    ASSIGN_OR_RETURN(const store::Matches matches,
                     store::FindTasks(session, step, call.filter, place.stage));
    for (const int64_t id : matches.ids) {
      slice.found.push_back({id, place.lane, place.queue.get()});
    }
    if (!matches.next_after.has_value()) continue;
    if (!slice.end.has_value() || IsBefore(call, *matches.next_after, *slice.end)) {
      slice.end = matches.next_after;
    }
  }
  std::erase_if(slice.found, [&](const Found& found) {
    return slice.end.has_value() && IsBefore(call, *slice.end, found.id);
  });
  std::sort(slice.found.begin(), slice.found.end(),
            [&](const Found& a, const Found& b) { return IsBefore(call, a.id, b.id); });
  // A task that moved from one table to another meanwhile was found in both.
  const auto is_same = [](const Found& a, const Found& b) { return a.id == b.id; };
  slice.found.erase(std::unique(slice.found.begin(), slice.found.end(), is_same),
                    slice.found.end());
  return slice;
}

// The statement leaves out the greatest ids: where these come first, fewer are asked for. Leaves
// those in `ids` that it came to.
absl::StatusOr<model::Page<model::TaskView>> TaskListing::ReadRun(pg::Session& session,
                                                                  const ListTasksCall& call,
                                                                  int64_t lane,
                                                                  const store::Room& room,
                                                                  std::vector<int64_t>* ids) {
  ASSIGN_OR_RETURN(auto some, store::GetTasks(session, lane, *ids, call.with_payload, room));
  while (some.has_more && call.newest_first && ids->size() > 1) {
    ids->resize(ids->size() / 2);
    ASSIGN_OR_RETURN(some, store::GetTasks(session, lane, *ids, call.with_payload, room));
  }
  if (some.has_more && !some.items.empty()) {
    ids->erase(std::find(ids->begin(), ids->end(), some.items.back().id.id) + 1, ids->end());
  }
  return some;
}

absl::StatusOr<int64_t> TaskListing::Add(pg::Session& session, const ListTasksCall& call,
                                         const std::vector<Found>& found, int64_t after,
                                         model::Page<model::TaskView>* page) {
  const auto open = static_cast<size_t>(call.limit) - page->items.size();
  absl::Span<const Found> rest = absl::MakeConstSpan(found).first(std::min(open, found.size()));
  int64_t last = after;
  while (!rest.empty()) {
    std::vector<int64_t> ids = RunOf(rest);
    const store::Room room{model::kListBytesMax - page->bytes, page->items.empty()};
    ASSIGN_OR_RETURN(auto some, ReadRun(session, call, rest.front().lane, room, &ids));
    if (some.items.empty() && some.has_more) break;
    if (call.newest_first) std::reverse(some.items.begin(), some.items.end());
    // An ended task whose key was enqueued again lives, and has its history still.
    const auto is_other = [&states = call.filter.states](const model::TaskView& task) {
      return !states.IsEmpty() && !states.Contain(task.state);
    };
    std::erase_if(some.items, is_other);
    for (model::TaskView& task : some.items) {
      task.queue = rest.front().queue->name;
      task.stage_name = rest.front().queue->settings.StageName(task.stage);
      page->items.push_back(std::move(task));
    }
    page->bytes += some.bytes;
    last = ids.back();
    page->has_more = some.has_more;
    if (some.has_more) break;
    rest.remove_prefix(ids.size());
  }
  return last;
}

}  // namespace skiplane::broker
