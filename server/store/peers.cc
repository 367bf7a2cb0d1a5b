#include "server/store/peers.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/sql/queries.h"

namespace skiplane::store {

std::string ApplicationName(const pg::Uuid& broker) {
  const std::string id(broker.begin(), broker.end());
  return absl::StrCat("skiplaned ", absl::BytesToHexString(id).substr(0, 16));
}

absl::StatusOr<Peers> RenewBroker(pg::Session& session, const BrokerRow& broker,
                                  absl::Duration expires_in,
                                  absl::Span<const pg::Uuid> confirmed) {
  pg::Params params;
  params.UuidValue(broker.id).Text(broker.name).Int8(absl::ToInt64Microseconds(expires_in));
  params.Text(broker.version).UuidArray(confirmed);
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kBrokerRenew, params));
  return Peers{rows.Int(0, 0), rows.Bool(0, 1)};
}

absl::StatusOr<std::vector<model::RunningBroker>> ListBrokers(pg::Session& session, int limit) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kBrokerList, pg::Params().Int4(limit)));
  std::vector<model::RunningBroker> brokers;
  for (int row = 0; row < rows.size(); ++row) {
    model::RunningBroker& broker = brokers.emplace_back();
    broker.id = rows.UuidValue(row, 0);
    broker.name = std::string(rows.Text(row, 1));
    broker.version = std::string(rows.Text(row, 2));
    if (!rows.IsNull(row, 3)) broker.start_time = rows.Micros(row, 3);
    broker.expire_time = rows.Micros(row, 4);
    broker.is_leader = rows.Bool(row, 5);
  }
  return brokers;
}

absl::StatusOr<model::ServedDatabase> ReadServedDatabase(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kServerInfo, pg::Params()));
  return model::ServedDatabase{rows.Micros(0, 0), std::string(rows.Text(0, 1)),
                             static_cast<int32_t>(rows.Int(0, 2))};
}

absl::Status ForgetBroker(pg::Session& session, const pg::Uuid& id) {
  return session.Run(sql::kBrokerForget, pg::Params().UuidValue(id)).status();
}

absl::Status SendNotifications(pg::Session& session, absl::Span<const absl::string_view> payloads) {
  return session.Run(sql::kNotificationSend, pg::Params().TextArray(payloads)).status();
}

absl::StatusOr<Lead> TakeLead(pg::Session& session, const pg::Uuid& id, absl::Duration expires_in) {
  pg::Params params;
  params.UuidValue(id).Int8(absl::ToInt64Microseconds(expires_in));
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kUpkeepLead, params));
  Lead lead;
  lead.is_leader = !rows.empty();
  if (lead.is_leader && !rows.IsNull(0, 0)) {
    lead.reclaimed_ago = absl::Microseconds(rows.Int(0, 0));
  }
  return lead;
}

absl::StatusOr<bool> KeepMark(pg::Session& session, const pg::Uuid& id) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.Run(sql::kUpkeepKeep, pg::Params().UuidValue(id)));
  return !rows.empty();
}

absl::Status MarkReclaimed(pg::Session& session, const pg::Uuid& id) {
  return session.Run(sql::kUpkeepMark, pg::Params().UuidValue(id)).status();
}

absl::Status ResignLead(pg::Session& session, const pg::Uuid& id) {
  return session.Run(sql::kUpkeepResign, pg::Params().UuidValue(id)).status();
}

absl::StatusOr<std::vector<model::TokenKey>> OpenTokenKeys(pg::Session& session) {
  RETURN_IF_ERROR(session.Run(sql::kTokenKeyFirst, pg::Params()).status());
  ASSIGN_OR_RETURN(std::vector<model::TokenKey> keys, ListTokenKeys(session));
  if (keys.empty()) return absl::InternalError("no key for lease tokens is there");
  return keys;
}

absl::StatusOr<std::vector<model::TokenKey>> ListTokenKeys(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.Run(sql::kTokenKeyList, pg::Params()));
  std::vector<model::TokenKey> keys;
  for (int row = 0; row < rows.size(); ++row) {
    keys.push_back(
        {static_cast<int16_t>(rows.Int(row, 0)), rows.Bytea(row, 1), rows.Bool(row, 2)});
  }
  return keys;
}

absl::Status RotateTokenKeys(pg::Session& session, const TokenKeyTimes& times) {
  pg::Params add;
  add.Int8(absl::ToInt64Microseconds(times.renewed_after));
  add.Int8(absl::ToInt64Microseconds(times.signs_after));
  RETURN_IF_ERROR(session.Run(sql::kTokenKeyAdd, add).status());
  pg::Params expire;
  expire.Int8(absl::ToInt64Microseconds(times.needed_for));
  return session.Run(sql::kTokenKeyExpire, expire).status();
}

}  // namespace skiplane::store
