#include "server/app/backup/dump.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "server/app/backup/pg_program.h"
#include "server/base/status_macros.h"
#include "server/pg/migrate/migrator.h"
#include "server/pg/session.h"

namespace skiplane::app {
namespace {

absl::Status CheckThere(const pg::ConnectOptions& connect) {
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session, pg::Session::Open(connect, nullptr));
  ASSIGN_OR_RETURN(const int version, pg::SchemaVersion(*session));
  if (version > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the database holds no schema skiplane: there is nothing to dump. Is it the right one?");
}

absl::Status IsThere(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat(path, " is there already: choose another name, or remove it"));
}

// Before anything is written to it: a dump holds payloads, and the keys of lease tokens.
absl::Status MakePrivateFile(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) {
    close(fd);
    return absl::OkStatus();
  }
  if (errno == EEXIST) return IsThere(path);
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
}

absl::Status PutInPlace(const std::string& draft, const std::string& path) {
  if (renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) {
    return absl::OkStatus();
  }
  if (errno == EEXIST) return IsThere(path);
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
}

}  // namespace

absl::Status Dump(const config::Config& config, absl::FunctionRef<bool()> is_ended) {
  const std::string& path = config.dump_file;
  std::error_code error;
  if (std::filesystem::exists(path, error)) return IsThere(path);
  ASSIGN_OR_RETURN(const Database database, ReachDatabase(config));
  RETURN_IF_ERROR(CheckThere(database.connect));
  const std::string draft = absl::StrCat(path, ".partial");
  RETURN_IF_ERROR(MakePrivateFile(draft));
  absl::Status made = RunPgProgram(
      {"pg_dump",
       {"--format=custom", "--compress=1", "--schema=skiplane", "--no-password",
        "--lock-wait-timeout=60s",
        absl::StrCat("--file=", std::filesystem::absolute(draft).string())},
       database.connect.uri,
       config.pg_bindir},
      is_ended);
  if (made.ok()) made = PutInPlace(draft, path);
  if (!made.ok()) {
    unlink(draft.c_str());
    return made;
  }
  std::cout << "dumped to " << path << ": " << std::filesystem::file_size(path, error)
            << " bytes\n" << std::flush;
  return absl::OkStatus();
}

}  // namespace skiplane::app
