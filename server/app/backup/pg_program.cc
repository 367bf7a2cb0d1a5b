#include "server/app/backup/pg_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/app/cluster/child.h"
#include "server/app/cluster/postgres_binaries.h"
#include "server/base/status_macros.h"
#include "server/pg/conninfo.h"

namespace skiplane::app {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(100);
constexpr absl::Duration kEndBound = absl::Seconds(10);

absl::StatusOr<Child> Start(const PgProgram& program, int output_fd) {
  ChildOptions options;
  options.argv = {FindPostgresProgram(program.name, program.bindir)};
  options.argv.insert(options.argv.end(), program.arguments.begin(), program.arguments.end());
  options.output_fd = output_fd;
  options.death_signal = SIGTERM;
  if (!program.uri.empty()) {
    ASSIGN_OR_RETURN(options.env, pg::LibpqEnvironment(program.uri));
  }
  absl::StatusOr<Child> child = Child::Start(options);
  if (child.ok()) return child;
  return absl::FailedPreconditionError(
      absl::StrCat(child.status().message(), ": install the package postgresql-client, of the "
                   "database's version or a newer one"));
}

absl::Status StatusOf(const PgProgram& program, int code) {
  if (code == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(program.name, " has failed with exit code ", code, ": it said why above"));
}

std::string ReadAll(int fd) {
  std::string text;
  char part[4096];
  for (ssize_t size = 0; (size = read(fd, part, sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(size));
  }
  return text;
}

}  // namespace

absl::Status RunPgProgram(const PgProgram& program, absl::FunctionRef<bool()> is_ended) {
  ASSIGN_OR_RETURN(Child child, Start(program, STDERR_FILENO));
  std::optional<int> code;
  while (!(code = child.Wait(kLook)).has_value()) {
    if (!is_ended()) continue;
    child.Signal(SIGTERM);
    if (!child.Wait(kEndBound).has_value()) child.Signal(SIGKILL);
    child.Wait(kEndBound);
    return absl::CancelledError(absl::StrCat("it was asked to end while ", program.name, " ran"));
  }
  return StatusOf(program, *code);
}

absl::StatusOr<std::string> ReadPgProgram(const PgProgram& program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  absl::StatusOr<Child> child = Start(program, ends[1]);
  close(ends[1]);
  std::string text;
  if (child.ok()) text = ReadAll(ends[0]);
  close(ends[0]);
  RETURN_IF_ERROR(child.status());
  const int code = child->Wait(absl::InfiniteDuration()).value_or(-1);
  if (code == 0) return text;
  return absl::FailedPreconditionError(absl::StripAsciiWhitespace(text));
}

}  // namespace skiplane::app
