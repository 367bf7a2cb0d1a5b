#include "server/model/notification.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace skiplane::model {
namespace {

constexpr absl::string_view kKindNames[] = {"tasks", "queues", "broker", "awaited",
                                            "ended", "workers", "sessions"};
constexpr absl::string_view kNobody = "-";

constexpr size_t kNumberBytesMax = std::numeric_limits<int64_t>::digits10 + 2;  // with its sign
constexpr size_t kOriginBytesMax = 32;
constexpr size_t kHeadBytesMax =
    absl::string_view("awaited").size() + 1 + kOriginBytesMax + 1 + kNumberBytesMax;
static_assert(kHeadBytesMax + kTasksPerNotification * (1 + kNumberBytesMax) <=
              kNotificationBytesMax);

constexpr size_t kSessionDigits = 2 * std::tuple_size_v<SessionId>;
static_assert(absl::string_view("sessions").size() + 1 + kOriginBytesMax +
                  kSessionsPerNotification * (1 + kSessionDigits) <=
              kNotificationBytesMax);

// Above what a database holds: however many are added up, the sum does not overflow.
constexpr int64_t kCountMax = std::numeric_limits<int32_t>::max();

bool ParseInt16(absl::string_view text, int16_t* value) {
  int number = 0;
  if (!absl::SimpleAtoi(text, &number)) return false;
  if (number < std::numeric_limits<int16_t>::min()) return false;
  if (number > std::numeric_limits<int16_t>::max()) return false;
  *value = static_cast<int16_t>(number);
  return true;
}

bool ParseTasks(const std::vector<absl::string_view>& words, Notification* notification) {
  int64_t micros = 0;
  int is_ready = 0;
  if (words.size() != 8) return false;
  if (!absl::SimpleAtoi(words[2], &notification->lane)) return false;
  if (!ParseInt16(words[3], &notification->stage)) return false;
  if (!ParseInt16(words[4], &notification->priority)) return false;
  if (!absl::SimpleAtoi(words[5], &is_ready)) return false;
  if (!absl::SimpleAtoi(words[6], &notification->count)) return false;
  if (notification->count < 0 || notification->count > kCountMax) return false;
  if (!absl::SimpleAtoi(words[7], &micros)) return false;
  notification->is_ready = is_ready != 0;
  notification->schedule_time = absl::FromUnixMicros(micros);
  return true;
}

bool ParseIds(const std::vector<absl::string_view>& words, Notification* notification) {
  if (words.size() < 4) return false;
  if (!absl::SimpleAtoi(words[2], &notification->lane)) return false;
  for (size_t i = 3; i < words.size(); ++i) {
    if (!absl::SimpleAtoi(words[i], &notification->tasks.emplace_back())) return false;
  }
  return true;
}

bool ParseSessions(const std::vector<absl::string_view>& words, Notification* notification) {
  if (words.size() < 3) return false;
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i].size() != kSessionDigits) return false;
    if (!std::all_of(words[i].begin(), words[i].end(), absl::ascii_isxdigit)) return false;
    const std::string bytes = absl::HexStringToBytes(words[i]);
    std::copy(bytes.begin(), bytes.end(), notification->sessions.emplace_back().begin());
  }
  return true;
}

}  // namespace

std::string FormatNotification(const Notification& notification) {
  std::string text = absl::StrCat(kKindNames[static_cast<int>(notification.kind)], " ",
                                  notification.origin.empty() ? kNobody : notification.origin);
  if (notification.kind == NotificationKind::kTasks) {
    absl::StrAppend(&text, " ", notification.lane, " ", notification.stage, " ",
                    notification.priority);
    absl::StrAppend(&text, " ", notification.is_ready ? 1 : 0, " ", notification.count, " ",
                    absl::ToUnixMicros(notification.schedule_time));
  }
  if (!notification.tasks.empty()) {
    absl::StrAppend(&text, " ", notification.lane, " ", absl::StrJoin(notification.tasks, " "));
  }
  for (const SessionId& session : notification.sessions) {
    absl::StrAppend(&text, " ", absl::BytesToHexString(absl::string_view(
                                    reinterpret_cast<const char*>(session.data()),
                                    session.size())));
  }
  return text;
}

std::vector<std::string> FormatTaskNotifications(NotificationKind kind, const std::string& origin,
                                                 int64_t lane, absl::Span<const int64_t> tasks) {
  std::vector<std::string> texts;
  for (size_t first = 0; first < tasks.size(); first += kTasksPerNotification) {
    const absl::Span<const int64_t> part = tasks.subspan(first, kTasksPerNotification);
    Notification notification;
    notification.kind = kind;
    notification.origin = origin;
    notification.lane = lane;
    notification.tasks.assign(part.begin(), part.end());
    texts.push_back(FormatNotification(notification));
  }
  return texts;
}

std::vector<std::string> FormatSessionNotifications(const std::string& origin,
                                                    absl::Span<const SessionId> sessions) {
  std::vector<std::string> texts;
  for (size_t first = 0; first < sessions.size(); first += kSessionsPerNotification) {
    const absl::Span<const SessionId> part = sessions.subspan(first, kSessionsPerNotification);
    Notification notification;
    notification.kind = NotificationKind::kSessions;
    notification.origin = origin;
    notification.sessions.assign(part.begin(), part.end());
    texts.push_back(FormatNotification(notification));
  }
  return texts;
}

std::optional<Notification> ParseNotification(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  if (words.size() < 2) return std::nullopt;
  Notification notification;
  if (words[1] != kNobody) notification.origin = std::string(words[1]);
  if (words[0] == kKindNames[0]) {
    if (!ParseTasks(words, &notification)) return std::nullopt;
    return notification;
  }
  if (words[0] == kKindNames[3] || words[0] == kKindNames[4]) {
    notification.kind = words[0] == kKindNames[3] ? NotificationKind::kAwaited
                                                  : NotificationKind::kEnded;
    if (!ParseIds(words, &notification)) return std::nullopt;
    return notification;
  }
  if (words[0] == kKindNames[6]) {
    notification.kind = NotificationKind::kSessions;
    if (!ParseSessions(words, &notification)) return std::nullopt;
    return notification;
  }
  if (words.size() != 2) return std::nullopt;
  if (words[0] == kKindNames[1]) {
    notification.kind = NotificationKind::kQueues;
  } else if (words[0] == kKindNames[2]) {
    notification.kind = NotificationKind::kBroker;
  } else if (words[0] == kKindNames[5]) {
    notification.kind = NotificationKind::kWorkers;
  } else {
    return std::nullopt;
  }
  return notification;
}

}  // namespace skiplane::model
