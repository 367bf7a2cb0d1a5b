// Where PostgreSQL's server programs are installed. Stateless; thread-safe.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::app {

// `given` if it is not empty, else the highest /usr/lib/postgresql/N/bin with N >= 15, else the
// first folder of PATH that holds initdb and postgres. NOT_FOUND, saying what to install, when
// there is none.
absl::StatusOr<std::string> FindPostgresBinaries(absl::string_view given);

// The path of one of PostgreSQL's programs for clients: in the folder `given` if it is there, else
// the newest of Debian's, whose wrapper in PATH may choose an older one, else its name, for PATH.
std::string FindPostgresProgram(const std::string& name, const std::string& given);

}  // namespace skiplane::app
