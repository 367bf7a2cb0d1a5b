#include "client/cli/command/one_task.h"

namespace skiplane::cli {

absl::Status ForEachId(const std::vector<std::string>& ids,
                       const std::function<absl::Status(const std::string&)>& change) {
  absl::Status first;
  for (const std::string& id : ids) {
    const absl::Status status = change(id);
    if (status.ok()) continue;
    // The last word about a single one is the caller's.
    if (ids.size() > 1) std::cerr << "skiplane: " << OneLine(id) << ": " << Explain(status) << "\n";
    first.Update(status);
  }
  return first;
}

}  // namespace skiplane::cli
