// Tells when one of some files has changed: other content, another file under the name, or another
// target of a link, as mounted secrets are replaced. By looking once a second, since notifications
// of the kernel follow no links. Told once the files have stayed as they are for one look, so that
// a pair of files that is replaced one by one is read when both are there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "server/base/timer.h"

namespace skiplane::app {

class FileWatch {
 public:
  // `changed` is called on a thread of its own and must not block. Files need not exist.
  FileWatch(std::vector<std::string> files, std::function<void()> changed);
  // It is not called any more when this returns.
  ~FileWatch();

 private:
  void Look();

  const std::vector<std::string> files_;
  const std::function<void()> changed_;
  std::string told_;  // how they were when it was told last
  std::string seen_;  // how they were at the last look
  base::Timer timer_;
};

}  // namespace skiplane::app
