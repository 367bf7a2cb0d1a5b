// The files of one attempt: its payload, and what the program writes for afterwards. They are in a
// folder of their own, which goes with this.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/work/scratch.h"
#include "skiplane/ack.h"
#include "skiplane/task.h"

namespace skiplane::cli {

struct FileRules {
  // The payload is a file instead of standard input.
  bool payload = false;
  // Files that the program may write.
  bool output = false;

  bool any() const { return payload || output; }
};

class TaskFiles {
 public:
  // Writes the payload if the rules say so. With rules that want no files it does nothing. A
  // failure is this machine's, not the task's.
  static absl::StatusOr<TaskFiles> Make(const Scratch& scratch, const LeasedTask& task,
                                        const FileRules& rules);

  // "{}" in an argument stands for the payload's path.
  std::vector<std::string> Arguments(std::vector<std::string> argv) const;

  // Tells the paths.
  void AddTo(std::vector<std::string>* environment) const;

  // A fifo that progress is written to; empty without output files.
  std::string progress_path() const;

  // What the program wrote: follow-ups, and what the next stage gets. The failure says which file
  // is wrong, and where.
  absl::StatusOr<AckMore> ReadMore(const LeasedTask& task) const;

 private:
  TaskFiles(Scratch folder, const FileRules& rules) : folder_(std::move(folder)), rules_(rules) {}

  std::string PathOf(const std::string& name) const { return folder_.path() + "/" + name; }

  Scratch folder_;
  FileRules rules_;
};

}  // namespace skiplane::cli
