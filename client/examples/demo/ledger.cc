#include "client/examples/demo/ledger.h"

namespace skiplane::demo {

Ledger::Ledger(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) done_[path];
}

void Ledger::Add(size_t worker, const Record& record) {
  if (!record.digest) {
    ++running_[worker];
    if (record.attempt > 1) ++attempts_repeated_;
    return;
  }
  --running_[worker];
  ++attempts_done_;
  const auto found = done_.find(record.path);
  if (found == done_.end()) {
    ++contradictions_;
    return;
  }
  Done& done = found->second;
  if (++done.times > 1) {
    if (done.times == 2) ++files_done_again_;
    if (done.sha256 != record.digest->sha256) ++contradictions_;
    return;
  }
  ++files_done_;
  done.sha256 = record.digest->sha256;
  words_ += record.digest->words;
  bytes_ += record.digest->bytes;
  if (done.sha256.empty()) ++files_unreadable_;
}

int64_t Ledger::Running(size_t worker) const {
  const auto found = running_.find(worker);
  return found == running_.end() ? 0 : found->second;
}

std::vector<std::string> Ledger::Missing() const {
  std::vector<std::string> missing;
  for (const auto& [path, done] : done_) {
    if (done.times == 0) missing.push_back(path);
  }
  return missing;
}

}  // namespace skiplane::demo
