#include "server/app/cluster/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace skiplane::app {
namespace {

std::string OwnerOf(int fd) {
  std::array<char, 32> text;
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  if (got <= 0) return "unknown";
  const absl::string_view owner(text.data(), static_cast<size_t>(got));
  return std::string(absl::StripAsciiWhitespace(owner));
}

bool WriteOwner(int fd) {
  const std::string text = absl::StrCat(getpid(), "\n");
  return ftruncate(fd, 0) == 0 &&
         pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

absl::StatusOr<FolderLock> FolderLock::Take(const std::string& folder,
                                            const std::string& advice) {
  const std::string path = absl::StrCat(folder, "/lock");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  FolderLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder, " is in use by another broker (process ", OwnerOf(fd),
                     "): ", advice));
  }
  if (!WriteOwner(fd)) return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace skiplane::app
