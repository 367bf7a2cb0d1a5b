#include "server/app/backup/restore.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/app/backup/pg_program.h"
#include "server/app/backup/roles.h"
#include "server/app/database/database.h"
#include "server/base/status_macros.h"
#include "server/pg/migrate/migrator.h"
#include "server/pg/session.h"

namespace skiplane::app {
namespace {

// Whether an entry of the list, such as "9; 1255 16385 FUNCTION public wait() ann", is of another
// schema than ours. What has no schema has "-" there, then its name, and its owner.
bool IsOfOthers(absl::string_view line) {
  if (absl::StartsWith(line, ";")) return false;
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  const auto is_type = [](absl::string_view word) {
    return std::all_of(word.begin(), word.end(), absl::ascii_isupper);
  };
  constexpr size_t kNumbers = 3;
  if (words.size() <= kNumbers) return false;
  const auto schema = std::find_if_not(words.begin() + kNumbers, words.end(), is_type);
  if (schema == words.end() || *schema == "skiplane") return false;
  const auto owner = words.end() - 1;
  return *schema != "-" || std::find(schema, owner, "skiplane") == owner;
}

// As a dump of a whole database does. That would not go again if the restore had to be taken back.
bool HoldsMore(const std::string& contents) {
  const std::vector<absl::string_view> lines = absl::StrSplit(contents, '\n');
  return std::any_of(lines.begin(), lines.end(), IsOfOthers);
}

// What `pg_restore --list` says of it.
absl::StatusOr<std::string> ContentsOf(const config::Config& config, const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  absl::StatusOr<std::string> contents =
      ReadPgProgram({"pg_restore", {"--list", path}, "", config.pg_bindir});
  if (!contents.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is no dump: ", contents.status().message()));
  }
  if (!absl::StrContains(*contents, " SCHEMA - skiplane ") ||
      !absl::StrContains(*contents, " TABLE DATA skiplane schema_version ")) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is a dump, but not of Skiplane: it has no schema skiplane"));
  }
  if (HoldsMore(*contents)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " holds what is of others, too: restore it with pg_restore"));
  }
  return contents;
}

absl::Status CheckEmpty(pg::Session& session) {
  RETURN_IF_ERROR(pg::CheckServerVersion(session));
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.RunText("SELECT to_regnamespace('skiplane') IS NOT NULL"));
  if (!rows.Bool(0, 0)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the database holds the schema skiplane already: restore into one without it. Nothing was "
      "changed");
}

// Those that the dump grants something to. Who may not make them may find that they are there.
absl::Status MakeRoles(pg::Session& session) {
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.RunText("SELECT rolsuper OR rolcreaterole FROM pg_roles "
                                   "WHERE rolname = current_user"));
  if (!rows.Bool(0, 0)) return absl::OkStatus();
  return session.RunText(kRolesSql).status();
}

// Whether all is to belong to skiplane_owner, as it did, and as it does after a migration:
// functions that run as their owner must not run as a superuser who restores them.
absl::StatusOr<bool> KeepsOwner(pg::Session& session, const std::string& contents) {
  if (!absl::StrContains(contents, " SCHEMA - skiplane skiplane_owner\n")) return false;
  ASSIGN_OR_RETURN(const pg::Rows rows,
                   session.RunText("SELECT coalesce(pg_has_role(to_regrole('skiplane_owner'), "
                                   "'USAGE'), false)"));
  return rows.Bool(0, 0);
}

absl::Status Adopt(const config::Config& config, const pg::ConnectOptions& connect) {
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session, pg::Session::Open(connect, nullptr));
  ASSIGN_OR_RETURN(const int version, pg::SchemaVersion(*session));
  if (version > pg::LatestSchemaVersion()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the dump has schema version ", version, ", and this skiplaned knows ",
                     pg::LatestSchemaVersion(), ": use a newer one"));
  }
  RETURN_IF_ERROR(PrepareDatabase(config, connect).status());
  return session->RunText("SELECT skiplane.grant_rights()").status();
}

// So that another try finds the database as this one did.
absl::Status TakeBack(const pg::ConnectOptions& connect, const absl::Status& why) {
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session, pg::Session::Open(connect, nullptr));
  RETURN_IF_ERROR(session->RunText("DROP SCHEMA IF EXISTS skiplane CASCADE").status());
  return absl::Status(why.code(), absl::StrCat(why.message(), ". Nothing was left"));
}

}  // namespace

absl::Status Restore(const config::Config& config, absl::FunctionRef<bool()> is_ended) {
  const std::string path = std::filesystem::absolute(config.dump_file).string();
  ASSIGN_OR_RETURN(const std::string contents, ContentsOf(config, path));
  ASSIGN_OR_RETURN(std::optional<ReservedPlace> reserved, ReserveDatabase(config));
  ASSIGN_OR_RETURN(const Database database, OpenDatabase(config, std::move(reserved)));
  // The name of the database is in the environment, too.
  PgProgram program{"pg_restore",
                    {"--single-transaction", "--exit-on-error", "--no-password", "--dbname=", path},
                    database.connect.uri,
                    config.pg_bindir};
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session,
                     pg::Session::Open(database.connect, nullptr));
    RETURN_IF_ERROR(CheckEmpty(*session));
    RETURN_IF_ERROR(MakeRoles(*session));
    ASSIGN_OR_RETURN(const bool keeps_owner, KeepsOwner(*session, contents));
    if (!keeps_owner) program.arguments.insert(program.arguments.begin(), "--no-owner");
  }
  const absl::Status restored = RunPgProgram(program, is_ended);
  if (absl::IsCancelled(restored)) return restored;
  if (!restored.ok()) {
    return absl::Status(
        restored.code(),
        absl::StrCat(restored.message(), ". Nothing was restored. If that is a role that does not "
                     "exist, run deploy/database-roles.sql as somebody who may make roles, and try "
                     "again"));
  }
  const absl::Status adopted = Adopt(config, database.connect);
  if (!adopted.ok()) return TakeBack(database.connect, adopted);
  std::cout << "restored " << config.dump_file << ": schema version " << pg::LatestSchemaVersion()
            << "\n" << std::flush;
  return absl::OkStatus();
}

}  // namespace skiplane::app
