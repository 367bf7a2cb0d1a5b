// Where the embedded PostgreSQL lives, and as whom. Stateless.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/app/cluster/system_user.h"

namespace skiplane::app {

struct EmbeddedPlace {
  std::string folder;              // absolute
  std::optional<SystemUser> user;  // who PostgreSQL runs as, if not us
  std::string data() const { return folder + "/pgdata"; }
};

// Makes `dir` and finds out whose PostgreSQL it will be. FAILED_PRECONDITION, saying what to do,
// when that account cannot reach it.
absl::StatusOr<EmbeddedPlace> PreparePlace(const std::string& dir);

// Makes a folder that only the server's account may enter. One that exists must be that already,
// else FAILED_PRECONDITION.
absl::Status MakePrivateFolder(const std::string& path, const std::optional<SystemUser>& user);

// The folder of the unix socket: in the place if that path is short enough for a socket, else below
// /run or /tmp under a name that depends on the place only.
std::string SocketFolder(const EmbeddedPlace& place);

// libpq URI of the database `skiplane` at that socket, as its owner. It holds no secret.
std::string EmbeddedUri(const EmbeddedPlace& place);

}  // namespace skiplane::app
