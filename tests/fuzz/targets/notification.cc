// Notifications: every role of the database may send one.
#include "server/model/notification.h"

#include <cstdint>

#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

void ReadNotification(absl::string_view bytes) {
  if (bytes.size() > model::kNotificationBytesMax) return;  // PostgreSQL takes none
  const auto notification = model::ParseNotification(bytes);
  if (!notification.has_value()) return;
  const auto again = model::ParseNotification(model::FormatNotification(*notification));
  Demand(again == notification, "a notification is read as it was written");
  Demand(notification->count >= 0 && notification->count <= INT32_MAX,
         "brokers can add up what they are told");
}

const Target kNotification("notification", &ReadNotification);

}  // namespace
}  // namespace skiplane::fuzz
