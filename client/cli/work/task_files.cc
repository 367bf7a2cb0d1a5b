#include "client/cli/work/task_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/work/descriptor.h"
#include "client/cli/work/follow_ups.h"

namespace skiplane::cli {
namespace {

constexpr char kPayload[] = "payload";
constexpr char kFollowUps[] = "follow-ups";
constexpr char kNextPayload[] = "next-payload";
constexpr char kProgress[] = "progress";
// More than a call may hold.
constexpr size_t kFileBytesMax = size_t{4} << 20;

absl::Status Failed(absl::string_view what) {
  return LocalError(absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::Status Write(const std::string& path, absl::string_view content) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) return Failed("cannot make the payload's file");
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("cannot write the payload's file");
    content.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// Nothing if the program made no such file.
absl::StatusOr<std::optional<std::string>> Read(const std::string& path, absl::string_view name) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  if (!S_ISREG(found.st_mode)) return LocalError(absl::StrCat(name, " is not a file"));
  std::ifstream file(path, std::ios::binary);
  std::string content(kFileBytesMax + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad() || !file.is_open()) return LocalError(absl::StrCat(name, " cannot be read"));
  content.resize(static_cast<size_t>(file.gcount()));
  if (content.size() > kFileBytesMax) return LocalError(absl::StrCat(name, " has over 4 MiB"));
  return content;
}

}  // namespace

absl::StatusOr<TaskFiles> TaskFiles::Make(const Scratch& scratch, const LeasedTask& task,
                                          const FileRules& rules) {
  if (!rules.any()) return TaskFiles(Scratch(), rules);
  auto folder = scratch.MakeInside("task");
  if (!folder.ok()) return folder.status();
  TaskFiles files(*std::move(folder), rules);
  if (rules.payload) {
    const absl::Status status = Write(files.PathOf(kPayload), task.payload);
    if (!status.ok()) return status;
  }
  if (rules.output && mkfifo(files.PathOf(kProgress).c_str(), 0600) != 0) {
    return Failed("cannot make the fifo for progress");
  }
  return files;
}

std::vector<std::string> TaskFiles::Arguments(std::vector<std::string> argv) const {
  if (!rules_.payload) return argv;
  const std::string path = PathOf(kPayload);
  for (std::string& argument : argv) absl::StrReplaceAll({{"{}", path}}, &argument);
  return argv;
}

void TaskFiles::AddTo(std::vector<std::string>* environment) const {
  const auto add = [&](absl::string_view variable, const std::string& name) {
    environment->push_back(absl::StrCat(variable, "=", PathOf(name)));
  };
  if (rules_.payload) add("SKIPLANE_PAYLOAD_FILE", kPayload);
  if (!rules_.output) return;
  add("SKIPLANE_FOLLOW_UPS_FILE", kFollowUps);
  add("SKIPLANE_NEXT_PAYLOAD_FILE", kNextPayload);
  add("SKIPLANE_PROGRESS_FILE", kProgress);
}

std::string TaskFiles::progress_path() const {
  return rules_.output ? PathOf(kProgress) : std::string();
}

absl::StatusOr<AckMore> TaskFiles::ReadMore(const LeasedTask& task) const {
  AckMore more;
  if (!rules_.output) return more;
  auto next = Read(PathOf(kNextPayload), "SKIPLANE_NEXT_PAYLOAD_FILE");
  if (!next.ok()) return next.status();
  if (next->has_value()) {
    more.next_payload = {.payload = **std::move(next),
                         .content_type = task.content_type,
                         .headers = task.headers};
  }
  const auto text = Read(PathOf(kFollowUps), "SKIPLANE_FOLLOW_UPS_FILE");
  if (!text.ok()) return text.status();
  if (!text->has_value()) return more;
  std::istringstream lines(**text);
  auto follow_ups = ReadFollowUps(lines, task.queue);
  if (!follow_ups.ok()) {
    return LocalError(absl::StrCat("SKIPLANE_FOLLOW_UPS_FILE, ", follow_ups.status().message()));
  }
  more.follow_ups = *std::move(follow_ups);
  return more;
}

}  // namespace skiplane::cli
