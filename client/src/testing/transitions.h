// What becomes of a task in memory when a run begins and when an attempt ends (docs/PROTOCOL.md).
// `settings` are those of its queue.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "client/src/testing/memory_task.h"

namespace skiplane::internal {

// Whatever it was before, it waits with this content. Its stage is one of the queue.
void StartRun(MemoryTask& task, NewTask content, const QueueSettings& settings, absl::Time now);

// A declared schedule (KeyPolicy::kSchedule) for a task that is known. False: nothing differs.
bool Declare(MemoryTask& task, NewTask content, const QueueSettings& settings, absl::Time now);

void Lease(MemoryTask& task, absl::Time now);

// Of a leased task. `more` names a stage of the queue, or none. True: the task moved to a stage.
bool EndAcked(MemoryTask& task, const AckMore& more, const QueueSettings& settings,
              absl::Time now);
// Failed: runs again while attempts are left.
void EndRetried(MemoryTask& task, TaskError error, std::optional<absl::Duration> delay,
                const QueueSettings& settings, absl::Time now);
void EndFailed(MemoryTask& task, TaskError error, const QueueSettings& settings, absl::Time now);
void EndReleased(MemoryTask& task, const QueueSettings& settings, absl::Time now);
// By no will of its worker, whose handler is asked to stop.
void EndLost(MemoryTask& task, TaskError error, const QueueSettings& settings, absl::Time now);

// When an attempt that is leased now is taken back.
absl::Time RunEndOf(const MemoryTask& task, const QueueSettings& settings);

}  // namespace skiplane::internal
