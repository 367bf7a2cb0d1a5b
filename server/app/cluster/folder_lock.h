// One process per folder: the lock goes with the process, however it ends. Movable.
// Not thread-safe.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace skiplane::app {

class FolderLock {
 public:
  // Locks the file `lock` in `folder`, which holds the owner's process id. FAILED_PRECONDITION,
  // naming that process and ending with `advice`, when another one has it.
  static absl::StatusOr<FolderLock> Take(const std::string& folder, const std::string& advice);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace skiplane::app
