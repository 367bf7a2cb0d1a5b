// The half of MemoryStore that takes tasks in.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/src/testing/checks.h"
#include "client/src/testing/memory_store.h"
#include "client/src/testing/transitions.h"
#include "client/src/testing/utf8.h"

namespace skiplane::internal {
namespace {

constexpr size_t kTasksPerCall = 1000;
constexpr size_t kQueuesPerCall = 64;

EnqueueOutcome OutcomeOf(bool is_changed, bool had_ended) {
  if (!is_changed) return EnqueueOutcome::kExisting;
  return had_ended ? EnqueueOutcome::kRestarted : EnqueueOutcome::kReplaced;
}

bool AreSame(const std::vector<NewTask>& a, const std::vector<NewTask>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NewTask& x, const NewTask& y) { return IsSame(x, y); });
}

}  // namespace

absl::Status MemoryStore::CheckNew(const NewTask& task, const std::string& at,
                                   const std::string& queue_field) {
  if (absl::Status status = CheckTask(task, now_, at); !status.ok()) return status;
  const absl::StatusOr<Queue*> queue = queues_.Find(task.queue, now_, queue_field);
  if (!queue.ok()) return queue.status();
  const QueueSettings& settings = (*queue)->settings;
  if (StopsEnqueue(**queue)) {
    return Refuse(absl::StatusCode::kFailedPrecondition, "QUEUE_PAUSED",
                  absl::StrCat("enqueues of ", task.queue, " are paused"));
  }
  if (task.payload.size() > static_cast<size_t>(settings.max_payload_bytes)) {
    return InvalidField(at + "payload", "is larger than the queue takes");
  }
  const auto& stages = settings.stages;
  const bool has_stage =
      task.stage.empty() || std::any_of(stages.begin(), stages.end(), [&](const Stage& stage) {
        return stage.name == task.stage;
      });
  return has_stage ? absl::OkStatus() : InvalidField(at + "stage", "is none of the queue");
}

// Names the queue of each task, too.
absl::Status MemoryStore::CheckCall(EnqueueCall& call) {
  if (call.tasks.empty() || call.tasks.size() > kTasksPerCall) {
    return InvalidField("tasks", "must have 1 to 1000 items");
  }
  if (absl::Status status = CheckText(call.request_id, 128, "request_id"); !status.ok()) {
    return status;
  }
  std::set<std::string> names;
  for (size_t i = 0; i < call.tasks.size(); ++i) {
    NewTask& task = call.tasks[i];
    const std::string at = absl::StrCat("tasks[", i, "].");
    const std::string queue_field = task.queue.empty() ? "queue" : at + "queue";
    if (task.queue.empty()) task.queue = call.queue;
    names.insert(task.queue);
    const absl::Status status = CheckNew(task, at, queue_field);
    if (!status.ok()) return status;
  }
  return names.size() <= kQueuesPerCall ? absl::OkStatus()
                                        : InvalidField("tasks", "have more than 64 queues");
}

absl::Status MemoryStore::CheckRoom(const EnqueueCall& call) {
  std::map<std::string, int64_t> more;
  for (const NewTask& task : call.tasks) ++more[task.queue];
  for (const auto& [name, tasks] : more) {
    const std::optional<int64_t> most = queues_.At(name).settings.max_depth;
    if (!most) continue;
    if (tasks > *most) {
      return Refuse(absl::StatusCode::kInvalidArgument, "REQUEST_TOO_LARGE",
                    absl::StrCat("the queue ", name, " never has room for so many"), "tasks");
    }
    const QueueCounts counts = Count(name);
    if (counts.scheduled + counts.ready + counts.leased + tasks > *most) {
      return Refuse(absl::StatusCode::kResourceExhausted, "QUEUE_FULL",
                    absl::StrCat("the queue ", name, " is full"));
    }
  }
  return absl::OkStatus();
}

absl::Status MemoryStore::CheckKeys(const EnqueueCall& call) {
  std::set<Key> before;
  for (size_t i = 0; i < call.tasks.size(); ++i) {
    const NewTask& task = call.tasks[i];
    const Key key{task.queue, task.key};
    const bool is_known = keys_.contains(key) || before.contains(key);
    if (task.key_policy == KeyPolicy::kReject && is_known) {
      return Refuse(absl::StatusCode::kAlreadyExists, "KEY_EXISTS",
                    absl::StrCat("a task holds the key ", task.key),
                    absl::StrCat("tasks[", i, "].key"));
    }
    if (!task.key.empty()) before.insert(key);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<EnqueueResult>> MemoryStore::Enqueue(EnqueueCall call) {
  absl::Status status = IsUtf8(call) ? CheckCall(call) : NotUtf8();
  if (status.ok()) status = CheckRoom(call);
  if (!status.ok()) return status;
  const bool is_repeatable = !call.request_id.empty() && !call.without_request_id;
  const auto first = std::min_element(
      call.tasks.begin(), call.tasks.end(),
      [](const NewTask& a, const NewTask& b) { return a.queue < b.queue; });
  const Key id{first->queue, call.request_id};
  if (const auto known = answered_.find(id); is_repeatable && known != answered_.end()) {
    if (AreSame(known->second.tasks, call.tasks)) return known->second.results;
    return Refuse(absl::StatusCode::kAlreadyExists, "REQUEST_ID_REUSED",
                  "the request id is that of another call", "request_id");
  }
  if (status = CheckKeys(call); !status.ok()) return status;
  std::vector<EnqueueResult> results;
  for (const NewTask& task : call.tasks) results.push_back(Put(task));
  if (is_repeatable) answered_[id] = {std::move(call.tasks), results};
  return results;
}

EnqueueResult MemoryStore::Put(NewTask content) {
  const Key key{content.queue, content.key};
  EnqueueResult result;
  int64_t number = 0;
  if (const auto known = keys_.find(key); !content.key.empty() && known != keys_.end()) {
    number = known->second;
    result.outcome = Change(tasks_.at(number), std::move(content));
    result.existing = result.outcome == EnqueueOutcome::kExisting;
  } else {
    number = static_cast<int64_t>(tasks_.size()) + 1;
    MemoryTask& task = tasks_[number];
    task.number = number;
    task.queue = content.queue;
    task.create_time = now_;
    if (!content.key.empty()) keys_[key] = number;
    StartRun(task, std::move(content), SettingsOf(task), now_);
  }
  result.task_id = IdOf(tasks_.at(number));
  result.state = StateOf(tasks_.at(number), now_);
  return result;
}

EnqueueOutcome MemoryStore::Change(MemoryTask& known, NewTask content) {
  const QueueSettings& settings = SettingsOf(known);
  const bool had_ended = known.HasEnded();
  const bool is_leased = known.phase == Phase::kLeased;
  if (content.key_policy == KeyPolicy::kSchedule) {
    return OutcomeOf(Declare(known, std::move(content), settings, now_), had_ended);
  }
  const auto version = known.rerun ? known.rerun->version : known.content.version;
  const bool is_older = content.version && version && *content.version <= *version;
  if (content.key_policy == KeyPolicy::kKeep || is_older) return EnqueueOutcome::kExisting;
  if (content.key_policy == KeyPolicy::kKeepUnfinished && !had_ended) {
    return EnqueueOutcome::kExisting;
  }
  if (is_leased) {
    if (content.key_policy != KeyPolicy::kRerunIfNewer) return EnqueueOutcome::kExisting;
    known.rerun = std::move(content);
    known.is_cancel_requested = false;
    return EnqueueOutcome::kRerun;
  }
  StartRun(known, std::move(content), settings, now_);
  return OutcomeOf(true, had_ended);
}

}  // namespace skiplane::internal
