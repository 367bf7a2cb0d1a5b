// The directory of an embedded PostgreSQL, which is this process's own as long as this lives.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/app/cluster/embedded_place.h"
#include "server/app/cluster/folder_lock.h"

namespace skiplane::app {

struct ReservedPlace {
  EmbeddedPlace place;
  FolderLock lock;
};

// Makes `dir`, and nothing in it but the file of the lock. FAILED_PRECONDITION, saying what to do,
// when another process has it: naming that one and the URI under which its database can be used.
absl::StatusOr<ReservedPlace> ReservePlace(const std::string& dir);

}  // namespace skiplane::app
