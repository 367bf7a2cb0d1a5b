#include "server/app/cluster/embedded_place.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/app/cluster/child.h"
#include "server/base/status_macros.h"

namespace skiplane::app {
namespace {

constexpr absl::string_view kSocketName = "/.s.PGSQL.5432.lock";

absl::Status CheckReach(const EmbeddedPlace& place) {
  if (!place.user) return absl::OkStatus();
  ChildOptions options;
  options.argv = {"/bin/true"};
  options.directory = place.folder;
  options.user = place.user;
  absl::StatusOr<Child> child = Child::Start(options);
  if (child.ok()) {
    child->Wait(absl::InfiniteDuration());
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "PostgreSQL does not run as root, and the account `", place.user->name, "` cannot reach ",
      place.folder, ": choose a directory such as /var/lib/skiplane/broker, or let others pass ",
      "through the folders above it (chmod o+x)"));
}

// The same for the same place, so that a killed broker's folder is found again. FNV-1a.
std::string ShortName(const std::string& folder) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : folder) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return absl::StrCat("skiplane-", geteuid(), "-", absl::Hex(hash));
}

std::string PercentEncoded(absl::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("-._~/", c)) {
      encoded.push_back(c);
    } else {
      absl::StrAppend(&encoded, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return encoded;
}

}  // namespace

absl::StatusOr<EmbeddedPlace> PreparePlace(const std::string& dir) {
  if (dir.empty()) return absl::InvalidArgumentError("the directory's name is empty");
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  EmbeddedPlace place;
  if (!error) place.folder = std::filesystem::canonical(dir, error).string();
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot make ", dir));
  ASSIGN_OR_RETURN(place.user, PostgresUser());
  RETURN_IF_ERROR(CheckReach(place));
  return place;
}

absl::Status MakePrivateFolder(const std::string& path, const std::optional<SystemUser>& user) {
  const uid_t owner = user ? user->uid : geteuid();
  if (mkdir(path.c_str(), 0700) == 0) {
    if (!user || lchown(path.c_str(), user->uid, user->gid) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot hand over ", path));
  }
  if (errno != EEXIST) return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == owner &&
      (found.st_mode & 077) == 0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(path, " exists and is not a closed folder of the account number ", owner,
                   ": remove it, or start the broker as the account that made it"));
}

std::string SocketFolder(const EmbeddedPlace& place) {
  std::string folder = absl::StrCat(place.folder, "/socket");
  if (folder.size() + kSocketName.size() >= sizeof(sockaddr_un::sun_path)) {
    const char* parent = access("/run", W_OK) == 0 ? "/run/" : "/tmp/";
    folder = absl::StrCat(parent, ShortName(place.folder));
  }
  return folder;
}

std::string EmbeddedUri(const EmbeddedPlace& place) {
  return absl::StrCat("postgresql://skiplane@/skiplane?host=",
                      PercentEncoded(SocketFolder(place)));
}

}  // namespace skiplane::app
