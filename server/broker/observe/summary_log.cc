#include "server/broker/observe/summary_log.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "server/broker/observe/summary_change.h"

namespace skiplane::broker {
namespace {

const std::string& NameOf(const QueueSummary& summary) { return summary.counted.queue.name; }

int64_t WeightOfName(const std::string& name) { return static_cast<int64_t>(name.size()) + 8; }

bool IsTold(const SummaryLog::Reader& reader, size_t slot) {
  return slot < reader.told.size() && reader.told[slot];
}

void SetTold(size_t slot, bool is_told, SummaryLog::Reader* reader) {
  if (slot >= reader->told.size()) reader->told.resize(slot + 1);
  reader->told[slot] = is_told;
}

}  // namespace

SummaryLog::Entry& SummaryLog::EntryOf(const std::string& name) {
  const auto [found, is_new] = entries_.try_emplace(name);
  Entry& entry = found->second;
  if (!is_new) return entry;
  entry.name = name;
  entry.slot = entries_.size() - 1;  // the others are all taken
  if (free_slots_.empty()) return entry;
  entry.slot = free_slots_.back();
  free_slots_.pop_back();
  return entry;
}

void SummaryLog::Note(Entry& entry, SummaryPtr summary) {
  by_change_.erase(entry.change);
  gone_.erase(entry.change);
  entry.change = ++last_change_;
  entry.summary = std::move(summary);
  by_change_.emplace_hint(by_change_.end(), entry.change, &entry);
  if (entry.summary == nullptr) gone_.emplace_hint(gone_.end(), entry.change, &entry);
}

void SummaryLog::Take(std::vector<QueueSummary> part) {
  for (QueueSummary& summary : part) {
    Entry& entry = EntryOf(NameOf(summary));
    entry.read = read_;
    if (entry.summary != nullptr && !IsChange(*entry.summary, summary)) continue;
    Note(entry, std::make_shared<const QueueSummary>(std::move(summary)));
  }
}

void SummaryLog::EndRead() {
  for (auto& [name, entry] : entries_) {
    if (entry.read != read_ && entry.summary != nullptr) Note(entry, nullptr);
  }
}

bool SummaryLog::Has(const std::string& queue) const {
  const auto found = entries_.find(queue);
  return found != entries_.end() && found->second.summary != nullptr;
}

QueueChanges SummaryLog::Next(Reader* reader, absl::FunctionRef<bool(const std::string&)> sees,
                              int64_t bytes_max) const {
  QueueChanges changes;
  for (auto at = by_change_.upper_bound(reader->seen); at != by_change_.end(); ++at) {
    const Entry& entry = *at->second;
    const bool is_there = entry.summary != nullptr && sees(entry.name);
    if (is_there || IsTold(*reader, entry.slot)) {
      const int64_t bytes =
          is_there ? WeightOf(*entry.summary) : WeightOfName(entry.name);
      if (changes.bytes + bytes > bytes_max && changes.bytes > 0) {
        changes.has_more = true;
        break;
      }
      changes.bytes += bytes;
      if (is_there) changes.changed.push_back(entry.summary);
      if (!is_there) changes.removed.push_back(entry.name);
      SetTold(entry.slot, is_there, reader);
    }
    reader->seen = at->first;
  }
  std::sort(changes.changed.begin(), changes.changed.end(),
            [](const SummaryPtr& one, const SummaryPtr& other) {
              return NameOf(*one) < NameOf(*other);
            });
  std::sort(changes.removed.begin(), changes.removed.end());
  return changes;
}

void SummaryLog::Forget(int64_t seen_by_all) {
  while (!gone_.empty() && gone_.begin()->first <= seen_by_all) {
    const Entry& entry = *gone_.begin()->second;
    free_slots_.push_back(entry.slot);
    by_change_.erase(entry.change);
    gone_.erase(gone_.begin());
    entries_.erase(std::string(entry.name));  // last: the entry goes with it
  }
}

}  // namespace skiplane::broker
