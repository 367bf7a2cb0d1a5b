#include "server/broker/batch/minute_recorder.h"

namespace skiplane::broker {

void MinuteRecorder::Waited(model::LaneStage lane_stage, absl::Span<const absl::Duration> waits,
                            absl::Time now) {
  const base::MutexLock lock(mutex_);
  model::MinuteTimes* const times = Find(lane_stage, now);
  if (times == nullptr) return;
  for (const absl::Duration wait : waits) times->wait.Add(wait);
}

void MinuteRecorder::Ran(model::LaneStage lane_stage, absl::Span<const absl::Duration> runs,
                         absl::Time now) {
  const base::MutexLock lock(mutex_);
  model::MinuteTimes* const times = Find(lane_stage, now);
  if (times == nullptr) return;
  for (const absl::Duration run : runs) times->run.Add(run);
}

std::vector<model::MinuteEntry> MinuteRecorder::Take() {
  absl::flat_hash_map<Key, model::MinuteTimes> taken;
  {
    const base::MutexLock lock(mutex_);
    taken.swap(entries_);
  }
  std::vector<model::MinuteEntry> entries;
  entries.reserve(taken.size());
  for (auto& [key, times] : taken) entries.push_back({key.first, key.second, std::move(times)});
  return entries;
}

model::MinuteTimes* MinuteRecorder::Find(model::LaneStage lane_stage, absl::Time now) {
  const absl::Duration since = absl::Floor(now - absl::UnixEpoch(), absl::Minutes(1));
  const Key key{lane_stage, absl::UnixEpoch() + since};
  if (const auto found = entries_.find(key); found != entries_.end()) return &found->second;
  return entries_.size() < kEntriesMax ? &entries_[key] : nullptr;
}

}  // namespace skiplane::broker
