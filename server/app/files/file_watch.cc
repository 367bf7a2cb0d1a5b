#include "server/app/files/file_watch.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skiplane::app {
namespace {

constexpr std::chrono::seconds kEvery(1);

// Differs when a file does.
std::string StateOf(const std::vector<std::string>& files) {
  std::string state;
  for (const std::string& file : files) {
    struct stat found{};
    if (stat(file.c_str(), &found) != 0) found = {};
    absl::StrAppend(&state, found.st_dev, " ", found.st_ino, " ", found.st_size, " ",
                    found.st_mtim.tv_sec, ".", found.st_mtim.tv_nsec, ";");
  }
  return state;
}

}  // namespace

FileWatch::FileWatch(std::vector<std::string> files, std::function<void()> changed)
    : files_(std::move(files)),
      changed_(std::move(changed)),
      told_(StateOf(files_)),
      seen_(told_) {
  timer_.After(kEvery, [this] { Look(); });
}

FileWatch::~FileWatch() { timer_.Stop(); }

void FileWatch::Look() {
  std::string state = StateOf(files_);
  const bool is_settled = state == seen_;
  if (is_settled && state != told_) {
    told_ = state;
    changed_();
  }
  seen_ = std::move(state);
  timer_.After(kEvery, [this] { Look(); });
}

}  // namespace skiplane::app
