// The data of the embedded PostgreSQL before it runs. Stateless; the caller holds the lock
// of the folder.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/app/cluster/embedded_place.h"

namespace skiplane::app {

// The programs to use: `given` if not empty, else those of the version that made the data, else the
// newest (postgres_binaries.h).
absl::StatusOr<std::string> BinariesFor(const EmbeddedPlace& place, const std::string& given);

// initdb, with the database `skiplane`, unless the data is there. It appears at once and complete:
// who is killed on the way leaves nothing behind but a draft, which the next start replaces.
absl::Status EnsureData(const EmbeddedPlace& place, const std::string& binaries);

// Writes skiplane.conf, which the data's postgresql.conf includes.
absl::Status WriteSettings(const EmbeddedPlace& place);

}  // namespace skiplane::app
