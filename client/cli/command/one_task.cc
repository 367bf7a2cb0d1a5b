#include "client/cli/command/one_task.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace skiplane::cli {
namespace {

absl::Status Counted(const absl::Status& first, size_t failed, size_t all) {
  absl::Status sum(first.code(), absl::StrCat(failed, " of ", all, " failed"));
  first.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    sum.SetPayload(url, payload);
  });
  return sum;
}

}  // namespace

absl::Status ForEachId(const std::vector<std::string>& ids,
                       const std::function<absl::Status(const std::string&)>& change) {
  absl::Status first;
  size_t failed = 0;
  for (const std::string& id : ids) {
    const absl::Status status = change(id);
    if (status.ok()) continue;
    // The last word about a single one is the caller's.
    if (ids.size() == 1) return status;
    std::cerr << "skiplane: " << OneLine(id) << ": " << Explain(status) << "\n";
    first.Update(status);
    ++failed;
  }
  return failed == 0 ? first : Counted(first, failed, ids.size());
}

}  // namespace skiplane::cli
