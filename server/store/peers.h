// What brokers on one database share: which run, which one leads, notifications, and the keys for
// lease tokens.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/model/report.h"
#include "server/model/token_key.h"
#include "server/pg/session.h"

namespace skiplane::store {

// The other brokers that run.
struct Peers {
  int64_t count = 0;
  bool all_read_packs = true;  // else packed tasks would stay unseen by some
};

// A broker as its peers see it.
struct BrokerRow {
  pg::Uuid id{};
  std::string name;     // for people
  std::string version;  // of its program
};

// Says that a broker runs for the next `expires_in`, and which deletions of queues it confirms.
absl::StatusOr<Peers> RenewBroker(pg::Session& session, const BrokerRow& broker,
                                  absl::Duration expires_in,
                                  absl::Span<const pg::Uuid> confirmed = {});

// By which PostgreSQL tells the connections of a broker apart (deletion_awaited.sql).
std::string ApplicationName(const pg::Uuid& broker);

// Those that run, by name, at most so many.
absl::StatusOr<std::vector<model::RunningBroker>> ListBrokers(pg::Session& session, int limit);

absl::StatusOr<model::ServedDatabase> ReadServedDatabase(pg::Session& session);

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

// While that is fresh: the database goes on to answer. Returns false, and notes nothing, when it is
// not, or when the broker does not lead.
absl::StatusOr<bool> KeepMark(pg::Session& session, const pg::Uuid& id);

absl::Status ResignLead(pg::Session& session, const pg::Uuid& id);

// Makes the first key for lease tokens if there is none; returns all.
absl::StatusOr<std::vector<model::TokenKey>> OpenTokenKeys(pg::Session& session);

absl::StatusOr<std::vector<model::TokenKey>> ListTokenKeys(pg::Session& session);

struct TokenKeyTimes {
  absl::Duration renewed_after = absl::Hours(24);
  // By then every broker has read the new one.
  absl::Duration signs_after = absl::Minutes(10);
  // More than model::kSettledKept, for which a settled lease is remembered.
  absl::Duration needed_for = absl::Hours(2);
};

// Makes the next key when it is time, and deletes those that no lease needs.
absl::Status RotateTokenKeys(pg::Session& session, const TokenKeyTimes& times);

}  // namespace skiplane::store
