// Which files were begun and done, by which worker, how often: the proof of the demonstration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/examples/demo/record.h"

namespace skiplane::demo {

class Ledger {
 public:
  // All files that have to be done.
  explicit Ledger(const std::vector<std::string>& paths);

  void Add(size_t worker, const Record& record);

  // How many attempts `worker` began and did not finish: tasks that it certainly holds.
  int64_t Running(size_t worker) const;

  int64_t files() const { return static_cast<int64_t>(done_.size()); }
  int64_t files_done() const { return files_done_; }
  // Attempts that did their work, and how many files had more than one of them.
  int64_t attempts_done() const { return attempts_done_; }
  int64_t files_done_again() const { return files_done_again_; }
  // Attempts with a number above 1: the task came back from a worker that lost it.
  int64_t attempts_repeated() const { return attempts_repeated_; }
  // Files that vanished or could not be read: done, but without a digest.
  int64_t files_unreadable() const { return files_unreadable_; }
  // Files that nobody asked for, or whose two digests differ. Anything but 0 is a defect.
  int64_t contradictions() const { return contradictions_; }
  int64_t words() const { return words_; }
  int64_t bytes() const { return bytes_; }
  std::vector<std::string> Missing() const;

 private:
  struct Done {
    int64_t times = 0;
    std::string sha256;
  };

  absl::flat_hash_map<std::string, Done> done_;
  absl::flat_hash_map<size_t, int64_t> running_;
  int64_t files_done_ = 0;
  int64_t attempts_done_ = 0;
  int64_t files_done_again_ = 0;
  int64_t attempts_repeated_ = 0;
  int64_t files_unreadable_ = 0;
  int64_t contradictions_ = 0;
  int64_t words_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace skiplane::demo
