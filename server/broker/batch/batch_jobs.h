// The jobs that a batcher has at the pool, for batches that have not begun. A batch waits for the
// turn of the party of its first item; when another party's item comes, a second job waits for that
// party's turn, and whichever has its turn first runs the batch. So a party whose turn is far off
// does not hold up those who share a lane with it. Where nothing waits at the pool, one job is
// enough. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace skiplane::broker {

class BatchJobs {
 public:
  // A batch is to wait at the pool, with a job of this party.
  void Begin(const std::string& party) {
    ++batches_;
    parties_.push_back(party);
  }

  // Whether a batch waits which this party should bring another job for; then it has one.
  bool Join(const std::string& party) {
    const bool joins = batches_ > 0 && parties_.size() < kPartiesMax &&
                       std::ranges::find(parties_, party) == parties_.end();
    if (joins) parties_.push_back(party);
    return joins;
  }

  bool empty() const { return parties_.empty(); }  // no job is at the pool

  // A job of this party has its turn. Whether it runs a batch: another may have done so.
  bool Take(const std::string& party) {
    if (const auto its = std::ranges::find(parties_, party); its != parties_.end()) {
      parties_.erase(its);
    }
    if (batches_ == 0) return false;
    --batches_;
    return true;
  }

 private:
  static constexpr size_t kPartiesMax = 8;  // more have their turns sooner than that anyway

  int batches_ = 0;                   // that wait
  std::vector<std::string> parties_;  // of their jobs, also of those that will find nothing to do
};

}  // namespace skiplane::broker
