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

}  // namespace skiplane::app
