#include "server/broker/schedule/bounds.h"

#include <algorithm>

namespace skiplane::broker {

void Bounds::Set(Key& bound, Key key) {
  raised_ += (key != Start() ? 1 : 0) - (bound != Start() ? 1 : 0);
  bound = key;
}

void Bounds::LowerOf(int16_t priority, Key key, std::map<int16_t, Key>& keys) {
  Key& known = keys.try_emplace(priority, key).first->second;
  known = std::min(known, key);
}

void Bounds::LowerKey(int16_t priority, Key key) {
  Key& bound = bounds_.try_emplace(priority, Start()).first->second;
  Set(bound, std::min(bound, key));
  for (auto& [snapshot, least] : open_) LowerOf(priority, key, least);
}

// Ids are greater than 0, so (time, 0) comes before every task of that schedule time.
void Bounds::Lower(int16_t priority, absl::Time schedule_time) {
  LowerKey(priority, {schedule_time, 0});
}

void Bounds::LowerTo(const store::Bound& ready_task) {
  LowerKey(ready_task.priority, {ready_task.schedule_time, ready_task.id - 1});
}

void Bounds::SetPriorities(const std::vector<int16_t>& priorities, bool keep_others) {
  is_read_ = true;
  std::map<int16_t, Key> next;
  if (keep_others) next = bounds_;
  for (const int16_t priority : priorities) {
    const auto known = bounds_.find(priority);
    next.try_emplace(priority, known == bounds_.end() ? Start() : known->second);
  }
  bounds_ = std::move(next);
  raised_ = std::count_if(bounds_.begin(), bounds_.end(),
                          [](const auto& entry) { return entry.second != Start(); });
}

Bounds::Snapshot Bounds::Begin() {
  open_[++last_snapshot_];
  return last_snapshot_;
}

void Bounds::End(Snapshot snapshot, const std::vector<store::Bound>& last) {
  const auto opened = open_.find(snapshot);
  if (opened == open_.end()) return;  // Reset() came between
  for (const store::Bound& leased : last) {
    const auto bound = bounds_.find(leased.priority);
    if (bound == bounds_.end()) continue;
    Key key{leased.schedule_time, leased.id};
    const auto least = opened->second.find(leased.priority);
    if (least != opened->second.end()) key = std::min(key, least->second);
    if (key <= bound->second) continue;
    LowerOf(leased.priority, bound->second, passed_);
    Set(bound->second, key);
  }
  open_.erase(opened);
}

void Bounds::Fail(Snapshot snapshot) {
  open_.erase(snapshot);
  Reset();
}

void Bounds::Reset() {
  for (auto& [priority, key] : bounds_) key = Start();
  raised_ = 0;
  open_.clear();
  Unread();
}

std::vector<store::Bound> Bounds::LookFrom() {
  std::map<int16_t, Key> from = bounds_;
  for (const auto& [priority, key] : std::exchange(passed_, {})) LowerOf(priority, key, from);
  return ToVector(from);
}

std::vector<store::Bound> Bounds::Current() const { return ToVector(bounds_); }

std::vector<store::Bound> Bounds::ToVector(const std::map<int16_t, Key>& keys) {
  std::vector<store::Bound> current;
  current.reserve(keys.size());
  for (const auto& [priority, key] : keys) current.push_back({priority, key.first, key.second});
  return current;
}

}  // namespace skiplane::broker
