// What brokers on one database know of each other: which run, which one leads, and notifications.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/pg/session.h"

namespace skiplane::store {

// Says that a broker runs for the next `expires_in`; returns how many others run.
absl::StatusOr<int64_t> RenewBroker(pg::Session& session, const pg::Uuid& id,
                                    absl::string_view name, absl::Duration expires_in);

absl::Status ForgetBroker(pg::Session& session, const pg::Uuid& id);

// Each payload becomes one notification on the brokers' channel.
absl::Status SendNotifications(pg::Session& session, absl::Span<const absl::string_view> payloads);

// The channel that SendNotifications uses.
inline constexpr char kNotificationChannel[] = "skiplane";

struct Lead {
  bool is_leader = false;
  std::optional<absl::Duration> reclaimed_ago;  // unset: never
};

// Takes or keeps the lead of the chores for `expires_in`.
absl::StatusOr<Lead> TakeLead(pg::Session& session, const pg::Uuid& id, absl::Duration expires_in);

// Notes that lost sessions were looked for just now.
absl::Status MarkReclaimed(pg::Session& session, const pg::Uuid& id);

absl::Status ResignLead(pg::Session& session, const pg::Uuid& id);

}  // namespace skiplane::store
