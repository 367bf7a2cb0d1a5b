#include "server/app/cluster/reserved_place.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"

namespace skiplane::app {

absl::StatusOr<ReservedPlace> ReservePlace(const std::string& dir) {
  ASSIGN_OR_RETURN(EmbeddedPlace place, PreparePlace(dir));
  const std::string advice =
      absl::StrCat("stop it, choose another directory, or, for a second broker on its database, ",
                   "give this one --database='", EmbeddedUri(place), "' instead of --embedded");
  ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(place.folder, advice));
  return ReservedPlace{std::move(place), std::move(lock)};
}

}  // namespace skiplane::app
