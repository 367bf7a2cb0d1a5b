// Calls of several queues: one statement, too, as a statement takes tasks of any lanes.
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/enqueue/enqueuer.h"
#include "server/broker/enqueue/task_check.h"

namespace skiplane::broker {
namespace {

// The different queues of a call, and where each was named first.
struct CallQueues {
  std::vector<std::string> names;
  std::vector<std::string> fields;
  std::vector<size_t> of_task;  // for each task the place of its queue

  explicit CallQueues(const EnqueueCall& call) {
    absl::flat_hash_map<std::string, size_t> places;
    for (size_t i = 0; i < call.tasks.size(); ++i) {
      const std::string& own = call.tasks[i].queue;
      const std::string& name = own.empty() ? call.queue : own;
      const auto [place, is_new] = places.try_emplace(name, names.size());
      of_task.push_back(place->second);
      if (!is_new) continue;
      names.push_back(name);
      fields.push_back(own.empty() ? "queue" : absl::StrCat("tasks[", i, "].queue"));
    }
  }
};

absl::Status CheckTasks(const PendingEnqueue& pending, const CallQueues& queues) {
  for (size_t i = 0; i < pending.call.tasks.size(); ++i) {
    const model::Queue& queue = pending.QueueOf(i);
    RETURN_IF_ERROR(
        base::BlameField("QUEUE_PAUSED", queues.fields[queues.of_task[i]], CheckOpen(queue)));
    RETURN_IF_ERROR(base::PrefixField(absl::StrCat("tasks[", i, "]."),
                                      CheckTask(queue, pending.call.tasks[i])));
  }
  return absl::OkStatus();
}

}  // namespace

void Enqueuer::EnqueueIntoSeveral(EnqueueCall call, Callback<std::vector<EnqueueResult>> done) {
  auto pending = std::make_unique<PendingEnqueue>();
  CallQueues queues(call);
  std::vector<std::string> names = queues.names;
  auto field_of = [fields = queues.fields](size_t place) { return fields[place]; };
  pending->call = std::move(call);
  pending->done = std::move(done);
  queues_.Find(std::move(names), std::move(field_of),
               [this, pending = std::move(pending), queues = std::move(queues)](
                   absl::StatusOr<std::vector<QueuePtr>> found) mutable {
                 absl::Status status = found.status();
                 if (status.ok()) {
                   for (const size_t place : queues.of_task) {
                     pending->queues.push_back((*found)[place]);
                   }
                   pending->queue = pending->queues.front();
                   status = CheckTasks(*pending, queues);
                 }
                 if (!status.ok()) return pending->done(std::move(status));
                 CheckSchedules(std::move(pending));
               });
}

void Enqueuer::CheckSchedules(std::unique_ptr<PendingEnqueue> pending) {
  EnqueueCall call = std::move(pending->call);
  schedules_.Check(std::move(call), [this, pending = std::move(pending)](
                                        absl::StatusOr<EnqueueCall> checked) mutable {
    if (!checked.ok()) return pending->done(checked.status());
    pending->call = *std::move(checked);
    Add(std::move(pending));
  });
}

}  // namespace skiplane::broker
