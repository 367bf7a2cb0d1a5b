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
    // The time of the last change of anything: also of who may read it, or by a copy that keeps the
    // time of its content.
    absl::StrAppend(&state, found.st_dev, " ", found.st_ino, " ", found.st_size, " ",
                    found.st_ctim.tv_sec, ".", found.st_ctim.tv_nsec, ";");
  }
  return state;
}

}  // namespace

bool FileStates::Look(std::string state) {
  const bool is_settled = state == std::exchange(seen_, state);
  return is_settled && std::exchange(told_, state) != state;
}

FileWatch::FileWatch(std::vector<std::string> files, std::function<void()> changed)
    : changed_(std::move(changed)),
      files_(std::move(files)),
      states_(StateOf(files_)) {
  timer_.After(kEvery, [this] { Look(); });
}

FileWatch::~FileWatch() { timer_.Stop(); }

void FileWatch::Follow(std::vector<std::string> files) {
  const base::MutexLock lock(mutex_);
  if (files == files_) return;
  files_ = std::move(files);
  states_ = FileStates(StateOf(files_));
}

void FileWatch::Look() {
  if (HasChanged()) changed_();
  timer_.After(kEvery, [this] { Look(); });
}

bool FileWatch::HasChanged() {
  const base::MutexLock lock(mutex_);
  return states_.Look(StateOf(files_));
}

}  // namespace skiplane::app
