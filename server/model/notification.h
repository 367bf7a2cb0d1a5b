// Notifications between brokers, by PostgreSQL's NOTIFY. They may be lost, doubled or late: only
// speed depends on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/model/lease.h"

namespace skiplane::model {

enum class NotificationKind {
  kTasks,   // tasks of a lane became ready, now or at schedule_time
  kQueues,  // a queue was made or changed: read them again
  kBroker,  // a broker started, listens again or ends: count them again, tell it what is awaited
  kAwaited,  // calls of the sender wait for the ends of tasks
  kEnded,    // tasks that calls wait for have ended
  kWorkers,  // leases were taken from workers that live, or their work is to stop
  kSessions,  // sessions ended or were lost, and all their leases with them
};

// NOTIFY takes less than 8,000 bytes.
inline constexpr size_t kNotificationBytesMax = 7999;

// As many ids of kAwaited and kEnded fit into one, however large their numbers are.
inline constexpr size_t kTasksPerNotification = 370;

// As many ids of kSessions fit into one.
inline constexpr size_t kSessionsPerNotification = 240;

struct Notification {
  NotificationKind kind = NotificationKind::kTasks;
  // The sender's origin id, at most 32 bytes; a broker ignores its own. Empty: for everybody.
  std::string origin;
  int64_t lane = 0;  // of tasks
  // Of kTasks:
  int16_t stage = 0;
  int16_t priority = 0;
  bool is_ready = false;  // else they will be at schedule_time
  int64_t count = 0;
  absl::Time schedule_time;  // the least schedule time of them
  // Of kAwaited and kEnded: their numbers.
  std::vector<int64_t> tasks{};
  std::vector<SessionId> sessions{};  // of kSessions

  friend bool operator==(const Notification&, const Notification&) = default;
};

// Space-separated text of at most kNotificationBytesMax. `origin` holds no space.
std::string FormatNotification(const Notification& notification);

// The texts of kAwaited or kEnded for any number of tasks of a lane.
std::vector<std::string> FormatTaskNotifications(NotificationKind kind, const std::string& origin,
                                                 int64_t lane, absl::Span<const int64_t> tasks);

// The texts of kSessions for any number of them.
std::vector<std::string> FormatSessionNotifications(const std::string& origin,
                                                    absl::Span<const SessionId> sessions);

// Nothing if `text` is not the result of FormatNotification: notifications of newer brokers are
// ignored.
std::optional<Notification> ParseNotification(absl::string_view text);

}  // namespace skiplane::model
