#include "server/broker/enqueue/enqueue_batch.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/request_hash.h"
#include "server/broker/api/refusals.h"
#include "server/model/request_key.h"
#include "server/store/pack.h"

namespace skiplane::broker {
namespace {

constexpr absl::string_view kKeyExists = "KEY_EXISTS";

int64_t LaneOf(const model::Queue& queue, uint64_t number) {
  return queue.lanes[number % queue.lanes.size()];
}

bool IsSpecial(const model::NewTask& task) {
  return !task.key.empty() || task.IsPeriodic() || !task.stage.empty();
}

// Whether the task's key makes a repeat harmless.
bool TellsRepeat(const model::NewTask& task) {
  return !task.key.empty() && task.key_policy != model::KeyPolicy::kKeepUnfinished &&
         task.key_policy != model::KeyPolicy::kReject;
}

int16_t StageOf(const model::NewTask& task, const model::QueueSettings& settings) {
  return task.stage.empty() ? 0 : settings.FindStage(task.stage).value_or(0);
}

std::vector<store::RequestRow> Requests(absl::Span<const std::unique_ptr<PendingEnqueue>> calls) {
  std::vector<store::RequestRow> requests;
  for (const auto& call : calls) {
    if (call->call.request_id.empty()) continue;
    requests.push_back({call->request_lane, call->call.request_id, call->body_hash,
                        call->ids.front().id});
  }
  // Every broker takes the rows in the same order, so that two batches never wait for each other.
  std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) {
    return std::tie(a.lane, a.request_id) < std::tie(b.lane, b.request_id);
  });
  return requests;
}

// The state in which a task is made, in a transaction that began at `began` by the database's
// clock. A repeat computes the same one. A planned time of a cron schedule is always ahead.
model::TaskState MadeState(const model::NewTask& task, absl::Time began) {
  const bool waits = !task.cron.empty() ||
                     task.delay.value_or(absl::ZeroDuration()) > absl::ZeroDuration() ||
                     task.schedule_time.value_or(absl::InfinitePast()) > began;
  return waits ? model::TaskState::kScheduled : model::TaskState::kReady;
}

bool QueuesPack(const std::unique_ptr<PendingEnqueue>& call) {
  const auto packs = [](const QueuePtr& queue) { return queue->settings.Packs(); };
  return packs(call->queue) && std::ranges::all_of(call->queues, packs);
}

// Tasks that come one by one mostly leave one by one, too, and then packs cost more than rows: so
// it is the size of the calls that counts, not that of the statement in which they meet.
bool AreLarge(absl::Span<const std::unique_ptr<PendingEnqueue>> calls, size_t tasks) {
  return tasks >= calls.size() * model::kPackTasksLeast;
}

// Learns how a call's request was answered: by itself, or by an earlier call.
absl::StatusOr<store::AnsweredRequest> FindAnswered(pg::Session& session,
                                                    const PendingEnqueue& call) {
  const absl::string_view id = call.call.request_id;
  ASSIGN_OR_RETURN(const auto answered,
                   store::AnsweredRequests(session, call.request_lane, absl::MakeSpan(&id, 1)));
  const auto found = answered.find(call.call.request_id);
  if (found == answered.end()) return ExpiredDuringTheCall();
  if (found->second.body_hash != model::LeadingInt64(call.body_hash)) return RequestIdReused();
  return found->second;
}

// What became of a task that was not made, as far as the commit told.
const EnqueueResult* FindKnown(const store::Enqueued& written, int64_t id) {
  if (const auto changed = written.changed.find(id); changed != written.changed.end()) {
    return &changed->second;
  }
  const auto existing = written.existing.find(id);
  return existing == written.existing.end() ? nullptr : &existing->second;
}

// Fills in who holds the keys of tasks that an earlier commit of this call made or found. Where
// nobody does any more, the task that the call made is gone.
absl::Status FillHolders(pg::Session& session, const PendingEnqueue& call,
                         const std::vector<size_t>& open, std::vector<EnqueueResult>& results) {
  std::map<int64_t, std::vector<size_t>> by_lane;
  for (const size_t i : open) by_lane[results[i].id.lane].push_back(i);
  for (const auto& [lane, tasks] : by_lane) {
    std::vector<absl::string_view> keys;
    for (const size_t i : tasks) keys.push_back(call.call.tasks[i].key);
    ASSIGN_OR_RETURN(const auto holders, store::HeldKeys(session, lane, keys));
    for (const size_t i : tasks) {
      const auto holder = holders.find(call.call.tasks[i].key);
      if (holder == holders.end() || holder->second.task == results[i].id.id) continue;
      results[i] = {{lane, holder->second.task}, model::EnqueueOutcome::kExisting,
                    holder->second.state};
    }
  }
  return absl::OkStatus();
}

absl::Status RefuseKey(size_t index, absl::string_view why) {
  return base::RefuseField(absl::StatusCode::kAlreadyExists, kKeyExists,
                           absl::StrCat("tasks[", index, "].key"),
                           absl::StrCat(why, "; nothing was made"));
}

// Where request ids of calls with these queues are known, in whatever order they name them.
const model::Queue& RequestQueueOf(const PendingEnqueue& call) {
  const model::Queue* first = &call.QueueOf(0);
  for (size_t i = 1; i < call.queues.size(); ++i) {
    if (call.QueueOf(i).name < first->name) first = &call.QueueOf(i);
  }
  return *first;
}

}  // namespace

absl::Status KeyExists(pg::Session& session, const PendingEnqueue& call) {
  const std::vector<model::NewTask>& tasks = call.call.tasks;
  absl::flat_hash_set<absl::string_view> rejecting;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].key_policy != model::KeyPolicy::kReject) continue;
    const absl::string_view key = tasks[i].key;
    rejecting.insert(key);
    ASSIGN_OR_RETURN(const auto holders,
                     store::HeldKeys(session, call.ids[i].lane, absl::MakeSpan(&key, 1)));
    if (holders.empty()) continue;
    const model::TaskId holder{call.ids[i].lane, holders.begin()->second.task};
    return RefuseKey(i, absl::StrCat("task ", model::FormatTaskId(holder), " holds this key"));
  }
  absl::flat_hash_set<absl::string_view> seen;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (rejecting.contains(tasks[i].key) && !seen.insert(tasks[i].key).second) {
      return RefuseKey(i, "an earlier task of the call has this key");
    }
  }
  return base::Refuse(absl::StatusCode::kAborted, "TRANSACTION_CONFLICT",
                      "a key of the call was held until just now; nothing was made: call again");
}

int64_t LaneOfKey(const model::Queue& queue, absl::string_view key) {
  return LaneOf(queue, StableHash(key));
}

void PrepareEnqueue(PendingEnqueue& call) {
  const std::vector<model::NewTask>& tasks = call.call.tasks;
  call.has_specials = std::any_of(tasks.begin(), tasks.end(), &IsSpecial);
  call.is_repeatable =
      !call.call.request_id.empty() || std::all_of(tasks.begin(), tasks.end(), &TellsRepeat);
  if (call.call.request_id.empty()) return;
  call.body_hash = HashBody(call.call);
  call.request_lane = LaneOf(RequestQueueOf(call), StableHash(call.call.request_id));
}

absl::Status NumberTasks(pg::Session& session, TaskNumbers& numbers, PendingEnqueue& call) {
  if (!call.ids.empty()) return absl::OkStatus();
  const auto count = static_cast<int64_t>(call.call.tasks.size());
  ASSIGN_OR_RETURN(const int64_t first, numbers.Take(session, count));
  // Tasks without a key stay together, so that they are leased in the order of the call.
  const uint64_t common = call.call.request_id.empty() ? static_cast<uint64_t>(first) / 64
                                                       : StableHash(call.call.request_id);
  for (size_t i = 0; i < call.call.tasks.size(); ++i) {
    const std::string& key = call.call.tasks[i].key;
    const int64_t lane = LaneOf(call.QueueOf(i), key.empty() ? common : StableHash(key));
    call.ids.push_back({lane, first + static_cast<int64_t>(i)});
  }
  return absl::OkStatus();
}

std::vector<store::TaskRow> RowsOf(absl::Span<const std::unique_ptr<PendingEnqueue>> calls) {
  std::vector<store::TaskRow> rows;
  for (const auto& call : calls) {
    for (size_t i = 0; i < call->call.tasks.size(); ++i) {
      const model::NewTask& task = call->call.tasks[i];
      const model::QueueSettings& settings = call->QueueOf(i).settings;
      const int16_t stage = StageOf(task, settings);
      const int32_t max_attempts =
          task.max_attempts > 0 ? task.max_attempts : settings.RetryOf(stage).max_attempts;
      const int64_t request = call->call.request_id.empty() ? 0 : call->ids.front().id;
      rows.push_back({call->ids[i], &task, max_attempts, request, stage});
    }
  }
  return rows;
}

bool MayHandOff(absl::Span<const std::unique_ptr<PendingEnqueue>> calls) {
  return std::ranges::none_of(calls, [](const auto& call) { return call->has_specials; });
}

absl::StatusOr<store::Enqueued> WriteRows(pg::Session& session,
                                          absl::Span<const std::unique_ptr<PendingEnqueue>> calls,
                                          absl::Span<const store::TaskRow> rows,
                                          const store::HandOff* hand_off, bool packs) {
  const std::vector<store::RequestRow> requests = Requests(calls);
  if (packs && hand_off == nullptr && AreLarge(calls, rows.size()) &&
      std::ranges::all_of(calls, QueuesPack)) {
    auto packed = store::EnqueuePacked(session, rows, requests);
    if (packed.has_value()) return *std::move(packed);
  }
  const auto needs_once = [](const auto& call) { return call->NeedsOnce(); };
  const bool is_plain = std::ranges::none_of(calls, needs_once);
  if (is_plain && hand_off == nullptr) return store::Enqueue(session, rows);
  return MayHandOff(calls) ? store::EnqueueAsked(session, rows, requests, hand_off)
                           : store::EnqueueOnce(session, rows, requests);
}

void Suspect(const PendingEnqueue& call, store::Enqueued& suspected) {
  for (size_t i = 0; i < call.ids.size(); ++i) {
    const model::NewTask& task = call.call.tasks[i];
    const model::QueueSettings& settings = call.QueueOf(i).settings;
    suspected.unleased.push_back({call.ids[i].lane, StageOf(task, settings), task.priority, true, 1,
                                  absl::InfinitePast(), settings.Packs()});
  }
}

absl::StatusOr<std::vector<EnqueueResult>> AnswerEnqueue(pg::Session& session,
                                                         const PendingEnqueue& call,
                                                         const store::Enqueued& written) {
  std::vector<EnqueueResult> results;
  // After a commit whose answer was lost nothing is known of its time.
  const absl::Time at = call.NeedsOnce() ? written.began : written.now;
  const absl::Time began = at == absl::Time() ? absl::Now() : at;
  for (const model::TaskId& id : call.ids) {
    if (const EnqueueResult* const known = FindKnown(written, id.id)) {
      results.push_back(*known);
    } else {
      const model::NewTask& task = call.call.tasks[results.size()];
      results.push_back({id, model::EnqueueOutcome::kCreated, MadeState(task, began)});
    }
  }
  if (!call.NeedsOnce()) return results;

  std::vector<size_t> open;  // not made by this commit
  for (size_t i = 0; i < results.size(); ++i) {
    const int64_t id = call.ids[i].id;
    if (!written.made.contains(id) && FindKnown(written, id) == nullptr) open.push_back(i);
  }
  if (open.empty()) return results;
  if (!call.call.request_id.empty() && open.size() == results.size()) {
    ASSIGN_OR_RETURN(const store::AnsweredRequest answered, FindAnswered(session, call));
    for (size_t i = 0; i < results.size(); ++i) {
      results[i].id.id = answered.first_id + static_cast<int64_t>(i);
      results[i].state = MadeState(call.call.tasks[i], answered.began);
    }
  }
  std::vector<size_t> keyed;
  for (const size_t i : open) {
    if (!call.call.tasks[i].key.empty()) keyed.push_back(i);
  }
  RETURN_IF_ERROR(FillHolders(session, call, keyed, results));
  return results;
}

}  // namespace skiplane::broker
