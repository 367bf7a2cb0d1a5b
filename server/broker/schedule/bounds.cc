#include "server/broker/schedule/bounds.h"

#include <algorithm>

namespace skiplane::broker {

void Bounds::LowerKey(int16_t priority, Key key) {
  const auto [bound, is_new] = bounds_.try_emplace(priority, Start());
  bound->second = std::min(bound->second, key);
  for (auto& [snapshot, least] : open_) {
    const auto [known, first] = least.try_emplace(priority, key);
    known->second = std::min(known->second, key);
  }
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
}

Bounds::Snapshot Bounds::Begin() {
  LowerAll(bounds_, passed_);
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
    bound->second = std::max(bound->second, key);
  }
  open_.erase(opened);
}

void Bounds::Fail(Snapshot snapshot) {
  open_.erase(snapshot);
  Reset();
}

void Bounds::Reset() {
  for (auto& [priority, key] : bounds_) key = Start();
  open_.clear();
  Unread();
}

std::vector<store::Bound> Bounds::LookFrom() {
  LowerAll(bounds_, passed_);
  return ToVector(std::exchange(passed_, {}));
}

void Bounds::LowerAll(const std::map<int16_t, Key>& to, std::map<int16_t, Key>& keys) {
  for (const auto& [priority, key] : to) {
    const auto known = keys.try_emplace(priority, key).first;
    known->second = std::min(known->second, key);
  }
}

std::vector<store::Bound> Bounds::Current() const { return ToVector(bounds_); }

std::vector<store::Bound> Bounds::ToVector(const std::map<int16_t, Key>& keys) {
  std::vector<store::Bound> current;
  current.reserve(keys.size());
  for (const auto& [priority, key] : keys) current.push_back({priority, key.first, key.second});
  return current;
}

bool Bounds::IsRaised() const {
  return std::any_of(bounds_.begin(), bounds_.end(),
                     [](const auto& entry) { return entry.second != Start(); });
}

}  // namespace skiplane::broker
