// PostgreSQL's programs for dumps, as children that reach a database as the broker would.
//
// They get the connection by their environment: a password on a command line could be read by
// everybody on the machine. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skiplane::app {

struct PgProgram {
  std::string name;                    // pg_dump, pg_restore
  std::vector<std::string> arguments;  // without the database
  std::string uri;                     // of the database; empty: it needs none
  std::string bindir;  // where to look for it first; else the newest of Debian's, else PATH
};

// Runs it to its end; what it says goes to standard error. `is_ended` is asked all the time: if it
// says so, the program is ended, and the answer is CANCELLED. FAILED_PRECONDITION if it is not
// there, or if it failed.
absl::Status RunPgProgram(const PgProgram& program, absl::FunctionRef<bool()> is_ended);

// The same, and what it writes to standard output, of which a part is enough to tell what a dump
// holds.
absl::StatusOr<std::string> ReadPgProgram(const PgProgram& program);

}  // namespace skiplane::app
