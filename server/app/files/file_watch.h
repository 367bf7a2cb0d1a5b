// Tells when one of some files has changed: other content, another file under the name, or another
// target of a link, as mounted secrets are replaced. By looking once a second, since notifications
// of the kernel follow no links. Told once the files have stayed as they are for one look, so that
// a pair of files that is replaced one by one is read when both are there. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/mutex.h"
#include "server/base/timer.h"

namespace skiplane::app {

// How some files were at one look after the other, as texts. Not thread-safe.
class FileStates {
 public:
  explicit FileStates(std::string state) : told_(state), seen_(std::move(state)) {}

  // Whether they have changed since that was told, and have stayed so since the last look.
  bool Look(std::string state);

 private:
  std::string told_;  // when it was told last
  std::string seen_;  // at the last look
};

class FileWatch {
 public:
  // `changed` is called on a thread of its own and must not block. Files need not exist.
  FileWatch(std::vector<std::string> files, std::function<void()> changed);
  // It is not called any more when this returns.
  ~FileWatch();

  // From now on these, as they are now. To be said before they are read: what changes while they
  // are is told. Nothing if they are the same.
  void Follow(std::vector<std::string> files);

 private:
  void Look();
  bool HasChanged();

  const std::function<void()> changed_;
  base::Mutex mutex_;
  std::vector<std::string> files_ ABSL_GUARDED_BY(mutex_);
  FileStates states_ ABSL_GUARDED_BY(mutex_);
  base::Timer timer_;
};

}  // namespace skiplane::app
