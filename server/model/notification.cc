#include "server/model/notification.h"

#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::model {
namespace {

constexpr absl::string_view kKindNames[] = {"tasks", "queues", "broker"};
constexpr absl::string_view kNobody = "-";

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
  if (!absl::SimpleAtoi(words[7], &micros)) return false;
  notification->is_ready = is_ready != 0;
  notification->schedule_time = absl::FromUnixMicros(micros);
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
  return text;
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
  if (words.size() != 2) return std::nullopt;
  if (words[0] == kKindNames[1]) {
    notification.kind = NotificationKind::kQueues;
  } else if (words[0] == kKindNames[2]) {
    notification.kind = NotificationKind::kBroker;
  } else {
    return std::nullopt;
  }
  return notification;
}

}  // namespace skiplane::model
