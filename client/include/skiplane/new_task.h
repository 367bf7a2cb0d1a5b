// What a producer enqueues, and the result: plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace skiplane {

// What Enqueue does when the key of a task is known.
enum class KeyPolicy {
  kKeep,            // the task with the key, finished or not, is the answer; nothing changes
  kKeepUnfinished,  // an unfinished task is the answer; a finished one starts again
  kRerunIfNewer,    // needs a version. If it is newer: a waiting task takes the new content, a
                    // running one takes it and runs once more, a finished one starts again
  kReplaceWaiting,  // a waiting task takes the new content, unless the version is not newer; a
                    // running one does not change, a finished one starts again
  kReject,          // the call is refused as ALREADY_EXISTS (KEY_EXISTS)
  kSchedule,        // of a periodic task that a service declares at each start: the same schedule
                    // keeps its planned time, another one is taken without an extra run
};

// What happens to planned times that passed while a periodic task ran or waited.
enum class CatchUp {
  kSkipMissed,  // skipped: the next run is at the first planned time in the future
  kRunAll,      // each of them is run, one after the other
};

struct NewTask {
  // What the worker gets. 0 to 1 MiB.
  std::string payload{};
  // The payload's media type, for example "application/json". 0 to 255 bytes.
  std::string content_type{};
  // Small facts that travel with the payload. At most 64; keys of 1 to 128, values to 4096 bytes.
  std::map<std::string, std::string> headers{};
  // Smaller is more urgent. -32768 to 32767.
  int priority = 0;
  // Not before this time (at most 10 years ahead), or not before this long after the commit (0 to
  // 10 years). At most one of the two. Neither: at once.
  std::optional<absl::Time> schedule_time{};
  std::optional<absl::Duration> delay{};
  // Failed attempts that end the task as FAILED. 1 to 1000. Default: the queue's number.
  std::optional<int> max_attempts{};
  // The caller's own id, unique in its queue: a repeat creates no second task. 0 to 255 bytes.
  std::string key{};
  // What a repeat of the key does. Only kKeep without a key.
  KeyPolicy key_policy = KeyPolicy::kKeep;
  // How new the content is: larger is newer, none is older than any. Needs a key. 1 to 2^63-1.
  std::optional<int64_t> version{};
  // Makes the task periodic: its ack schedules the next planned time instead of ending it. Either
  // every `period` from the first run on, 1 s to 10 years; or by a `cron` schedule of five fields
  // (six with seconds first) or @daily and the like, 1 to 255 bytes. At most one of the two.
  std::optional<absl::Duration> period{};
  std::string cron{};
  // The IANA zone of cron, for example "Europe/Berlin". Empty: UTC. Only with cron.
  std::string time_zone{};
  // kRunAll only of a periodic task.
  CatchUp catch_up = CatchUp::kSkipMissed;
  // The stage of the queue's pipeline at which it begins. Empty: the first.
  std::string stage{};
  // Its queue. Empty: that of the call. Required of a follow-up (ack.h).
  std::string queue{};
};

enum class EnqueueOutcome {
  kCreated,
  kExisting,   // a task with this key is known; nothing was created
  kReplaced,   // the task with this key took the new content (while it ran: only by kSchedule)
  kRestarted,  // the finished task with this key starts again
  kRerun,      // the running task with this key runs once more, with the new content
};

enum class TaskState { kUnknown, kScheduled, kReady, kLeased, kSucceeded, kFailed, kCancelled };

struct EnqueueResult {
  // The id of the new task, or of the one that holds the key.
  std::string task_id{};
  // Whether `outcome` is kExisting.
  bool existing = false;
  EnqueueOutcome outcome = EnqueueOutcome::kCreated;
  // The task's state after the call; of one that was known before, the one that it is in now.
  TaskState state = TaskState::kUnknown;
};

}  // namespace skiplane
