#include "server/pg/requirements.h"

#include <random>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/base/log.h"
#include "server/base/mutex.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/pg/errors.h"
#include "server/pg/refusals.h"

namespace skiplane::pg {
namespace {

// Asks nothing that a role may not see. The mark tells connections apart that had the same pid.
constexpr char kFacts[] =
    "SELECT pg_catalog.pg_is_in_recovery() AS in_recovery, "
    "current_setting('transaction_read_only') AS read_only, "
    "current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes, "
    "current_setting('synchronous_commit') AS synchronous_commit, "
    "coalesce(current_setting('skiplane.connection', true), '') AS mark, "
    "pg_catalog.pg_backend_pid() AS pid, "
    "(date_part('epoch', pg_catalog.clock_timestamp()) * 1e6)::int8 AS seen_time, "
    "to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS has_citus";

// Names a table that is only there with Citus.
constexpr char kDistributed[] =
    "SELECT count(*) FROM pg_catalog.pg_dist_partition p "
    "JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid "
    "WHERE c.relnamespace = to_regnamespace('skiplane')";

constexpr int kRounds = 3;  // enough for a pooler that hands its connections out in turn

std::string NewMark() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
}

absl::Status Durability(const pqxx::row& facts) {
  for (const char* const setting : {"fsync", "full_page_writes", "synchronous_commit"}) {
    const auto value = facts[setting].as<std::string>();
    if (value != "on") return NotDurable(setting, value);
  }
  return absl::OkStatus();
}

// Every connection finds the same.
void LogOnce(const absl::Status& unsafe) {
  static base::Mutex* const mutex = new base::Mutex;
  static auto* const told = new absl::flat_hash_set<std::string>;
  const std::string what(unsafe.message());
  base::MutexLock lock(*mutex);
  if (!told->insert(what).second) return;
  base::Log(base::LogLevel::kWarn, "unsafe_durability", {{"what", what}});
}

// Whether the two see only themselves, in turn.
absl::Status CheckApart(Session& one, Session& other) {
  for (int round = 0; round < kRounds; ++round) {
    RETURN_IF_ERROR(one.RecheckNow());
    RETURN_IF_ERROR(other.RecheckNow());
    // Keeps the server's connection, so that a pooler has to give the first one another.
    RETURN_IF_ERROR(other.RunText("BEGIN").status());
    RETURN_IF_ERROR(other.RecheckNow());
    RETURN_IF_ERROR(one.RecheckNow());
    RETURN_IF_ERROR(other.RunText("COMMIT").status());
  }
  return absl::OkStatus();
}

}  // namespace

Requirements::Requirements(const ConnectOptions& options)
    : allow_unsafe_durability_(options.allow_unsafe_durability),
      schema_version_(options.schema_version),
      mark_(NewMark()) {}

std::string Requirements::MarkStatement() const {
  return absl::StrCat("SET skiplane.connection = '", mark_, "'");
}

absl::Status Requirements::Check(pqxx::connection& connection) {
  pqxx::nontransaction work(connection);
  const pqxx::result answer = work.exec(kFacts);
  const pqxx::row facts = answer.at(0);
  const int pid = facts["pid"].as<int>();
  if (backend_.pid == 0) backend_ = {pid, facts["seen_time"].as<int64_t>()};
  // First, since the settings are not ours if the connection is not.
  if (facts["mark"].as<std::string>() != mark_ || pid != backend_.pid) return ConnectionShared();
  if (facts["in_recovery"].as<bool>() || facts["read_only"].as<std::string>() == "on") {
    return ReadOnly();
  }
  if (facts["has_citus"].as<bool>()) {
    const auto tables = work.exec(kDistributed).at(0).at(0).as<int64_t>();
    if (tables > 0) return Distributed(tables);
  }
  absl::Status durability = Durability(facts);
  if (durability.ok() || !allow_unsafe_durability_) return durability;
  LogOnce(durability);
  return absl::OkStatus();
}

absl::Status Requirements::CheckSchema(pqxx::connection& connection) const {
  if (schema_version_ == 0) return absl::OkStatus();
  pqxx::nontransaction work(connection);
  const pqxx::result there = work.exec("SELECT to_regclass('skiplane.schema_version') IS NOT NULL");
  if (!there.at(0).at(0).as<bool>()) return SchemaMissing();
  const int version = work.exec(kSchemaVersion).at(0).at(0).as<int>();
  return version < schema_version_ ? SchemaOlder(version, schema_version_) : absl::OkStatus();
}

absl::Status CheckNotShared(const ConnectOptions& options, Session& session) {
  const absl::StatusOr<std::unique_ptr<Session>> other = Session::Open(options, nullptr);
  if (!other.ok()) {
    // Who has the only connection there is shares it with nobody.
    return base::ReasonOf(other.status()) == "POOLER_NOT_SUPPORTED" ? other.status()
                                                                    : absl::OkStatus();
  }
  absl::Status status = CheckApart(session, **other);
  return absl::IsUnknown(status) ? NotConnected() : status;  // nothing was to be changed
}

}  // namespace skiplane::pg
