// The unprivileged account of PostgreSQL when the broker runs as root, which PostgreSQL refuses.
// Plain values and stateless look-ups; thread-safe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane::app {

struct SystemUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

// `postgres` if it exists, else `nobody`, when this process is root; nothing when it is not, since
// PostgreSQL may then run as ourselves. NOT_FOUND when root finds neither.
absl::StatusOr<std::optional<SystemUser>> PostgresUser();

// NOT_FOUND when there is no such account.
absl::StatusOr<SystemUser> FindUser(const std::string& name);

}  // namespace skiplane::app
