#include "server/app/cluster/system_user.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace skiplane::app {

absl::StatusOr<SystemUser> FindUser(const std::string& name) {
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return absl::NotFoundError(absl::StrCat("no account ", name));

  SystemUser user{name, entry.pw_uid, entry.pw_gid, {}};
  int count = 64;
  user.groups.resize(static_cast<size_t>(count));
  getgrouplist(name.c_str(), entry.pw_gid, user.groups.data(), &count);
  user.groups.resize(static_cast<size_t>(std::min(count, 64)));
  return user;
}

absl::StatusOr<std::optional<SystemUser>> PostgresUser() {
  if (geteuid() != 0) return std::nullopt;
  for (const char* name : {"postgres", "nobody"}) {
    absl::StatusOr<SystemUser> user = FindUser(name);
    if (user.ok()) return *std::move(user);
  }
  return absl::NotFoundError(
      "PostgreSQL does not run as root, and there is neither an account `postgres` nor `nobody`; "
      "start as an ordinary user");
}

}  // namespace skiplane::app
