// What waits for a batch, in the order it came. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "server/broker/batch/batch_limits.h"

namespace skiplane::broker {

template <typename Item>
class PendingItems {
 public:
  bool empty() const { return entries_.empty(); }
  int64_t rows() const { return rows_; }
  const Item& front() const { return entries_.front().item; }

  bool HasRoom(const BatchLimits& limits, int64_t rows, int64_t bytes) const {
    return rows_ + rows <= limits.pending_rows_max && bytes_ + bytes <= limits.pending_bytes_max;
  }

  void Add(Item&& item, int64_t rows, int64_t bytes) {
    entries_.push_back({std::move(item), rows, bytes});
    rows_ += rows;
    bytes_ += bytes;
  }

  // Calls `look` with the first `count` of them.
  template <typename Look>
  void ForFirst(size_t count, Look look) const {
    for (size_t i = 0; i < std::min(count, entries_.size()); ++i) look(entries_[i].item);
  }

  // At least one, if there is any; more while they fit.
  std::vector<Item> Take(const BatchLimits& limits) {
    std::vector<Item> items;
    int64_t rows = 0;
    int64_t bytes = 0;
    while (!entries_.empty()) {
      Entry& next = entries_.front();
      if (!items.empty() &&
          (rows + next.rows > limits.rows_max || bytes + next.bytes > limits.bytes_max)) {
        break;
      }
      rows += next.rows;
      bytes += next.bytes;
      items.push_back(std::move(next.item));
      entries_.pop_front();
    }
    rows_ -= rows;
    bytes_ -= bytes;
    return items;
  }

 private:
  struct Entry {
    Item item;
    int64_t rows;
    int64_t bytes;
  };

  std::deque<Entry> entries_;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace skiplane::broker
