// Sees to it that no program outlives this process, however it ends: a third Ctrl-C or SIGKILL
// leave no time for that.
//
// It is a process of its own, which does nothing but wait for the end of this one. Then it sends
// SIGTERM to the process groups that it was told of, SIGKILL later to those that are left, and
// removes the programs' files.
// Thread-safe.
#pragma once

#include <sys/types.h>

#include <string>

#include "absl/time/time.h"
#include "client/cli/work/descriptor.h"

namespace skiplane::cli {

class GroupKeeper {
 public:
  // Without it, if it cannot be started, only the leaders of groups end with this process.
  // `folder` is what it removes; empty: nothing.
  explicit GroupKeeper(absl::Duration kill_after, std::string folder = {});
  // Lets it end. No group runs any more.
  ~GroupKeeper();
  GroupKeeper(const GroupKeeper&) = delete;
  GroupKeeper& operator=(const GroupKeeper&) = delete;

  // May be called between fork and exec.
  void Began(pid_t group) { Tell(group); }
  void Ended(pid_t group) { Tell(-group); }

 private:
  void Tell(pid_t news) const;

  pid_t pid_ = -1;
  Descriptor line_;
};

}  // namespace skiplane::cli
