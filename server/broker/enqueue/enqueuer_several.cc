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

absl::Status CheckTasksOf(const EnqueueCall& call, const std::vector<size_t>& places,
                          const QueueCache::Queues& queues) {
  for (size_t i = 0; i < call.tasks.size(); ++i) {
    RETURN_IF_ERROR(base::PrefixField(absl::StrCat("tasks[", i, "]."),
                                      CheckTask(*queues[places[i]], call.tasks[i])));
  }
  return absl::OkStatus();
}

absl::Status CheckAllOpen(const QueueCache::Queues& queues,
                          const std::vector<std::string>& fields) {
  for (size_t i = 0; i < queues.size(); ++i) {
    RETURN_IF_ERROR(BlameClosed(fields[i], CheckOpen(*queues[i])));
  }
  return absl::OkStatus();
}

// What the call brings to those of its queues that have limits, and where each was named.
void AddWants(const EnqueueCall& call, const CallQueues& queues, const QueueCache::Queues& found,
              QueueRoom::Wants* wants, std::vector<std::string>* fields) {
  for (size_t place = 0; place < found.size(); ++place) {
    if (!found[place]->settings.limits.IsAny()) continue;
    QueueRoom::Want& want = wants->emplace_back(QueueRoom::Want{.queue = found[place]});
    fields->push_back(queues.fields[place]);
    for (size_t i = 0; i < call.tasks.size(); ++i) {
      if (queues.of_task[i] == place) want.Add(call.tasks[i]);
    }
  }
}

absl::Status CheckAllFit(const EnqueueCall& call, const CallQueues& queues,
                         const QueueCache::Queues& found) {
  QueueRoom::Wants wants;
  std::vector<std::string> fields;
  AddWants(call, queues, found, &wants, &fields);
  for (size_t i = 0; i < wants.size(); ++i) {
    RETURN_IF_ERROR(base::BlameField("REQUEST_TOO_LARGE", fields[i], wants[i].CheckFits()));
  }
  return absl::OkStatus();
}

}  // namespace

void Enqueuer::EnqueueIntoSeveral(std::unique_ptr<PendingEnqueue> pending) {
  const EnqueueCall& asked = pending->call;
  CallQueues queues(asked);
  std::vector<std::string> names = queues.names;
  auto field_of = [fields = queues.fields](size_t place) { return fields[place]; };
  auto check = [&asked, queues](const QueueCache::Queues& found) -> absl::Status {
    RETURN_IF_ERROR(CheckTasksOf(asked, queues.of_task, found));
    return CheckAllFit(asked, queues, found);
  };
  queues_.Find({asked.principal, asked.party}, std::move(names), std::move(field_of),
               std::move(check),
               [this, pending = std::move(pending), queues = std::move(queues)](
                   absl::StatusOr<QueueCache::Queues> found) mutable {
                 absl::Status status = found.status();
                 if (status.ok()) status = CheckAllOpen(*found, queues.fields);
                 if (!status.ok()) return pending->done(std::move(status));
                 for (const size_t place : queues.of_task) {
                   pending->queues.push_back((*found)[place]);
                 }
                 pending->queue = pending->queues.front();
                 QueueRoom::Wants wants;
                 std::vector<std::string> fields;
                 AddWants(pending->call, queues, *found, &wants, &fields);
                 if (wants.empty()) return CheckSchedules(std::move(pending));
                 TakeRoom(std::move(pending), std::move(wants), std::move(fields));
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
