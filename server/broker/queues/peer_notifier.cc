#include "server/broker/queues/peer_notifier.h"

#include <algorithm>
#include <vector>

#include "server/store/peers.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::milliseconds kApart(50);

}  // namespace

void PeerNotifier::SetPeers(int64_t peers) {
  base::MutexLock lock(mutex_);
  peers_ = peers;
}

void PeerNotifier::Tasks(const store::UnleasedTasks& unleased) {
  bool arm = false;
  {
    base::MutexLock lock(mutex_);
    if (peers_ == 0) return;
    model::Notification& notification =
        tasks_[{unleased.lane, unleased.stage, unleased.priority, unleased.is_ready}];
    if (notification.count == 0) {
      notification = {model::NotificationKind::kTasks, context_.origin_id, unleased.lane,
                      unleased.stage, unleased.priority, unleased.is_ready, 0,
                      unleased.schedule_time};
    }
    notification.count += unleased.count;
    notification.schedule_time = std::min(notification.schedule_time, unleased.schedule_time);
    arm = Schedule();
  }
  if (arm) Arm();
}

bool PeerNotifier::Awaited(const model::TaskId& task) {
  bool arm = false;
  {
    base::MutexLock lock(mutex_);
    if (peers_ == 0) return false;
    single_[{model::NotificationKind::kAwaited, task.lane}].push_back(task.id);
    arm = Schedule();
  }
  if (arm) Arm();
  return true;
}

void PeerNotifier::Ended(int64_t lane, absl::Span<const int64_t> tasks) {
  if (tasks.empty()) return;
  bool arm = false;
  {
    base::MutexLock lock(mutex_);
    std::vector<int64_t>& ended = single_[{model::NotificationKind::kEnded, lane}];
    ended.insert(ended.end(), tasks.begin(), tasks.end());
    arm = Schedule();
  }
  if (arm) Arm();
}

void PeerNotifier::SessionsGone(absl::Span<const model::SessionId> sessions) {
  bool arm = false;
  {
    base::MutexLock lock(mutex_);
    if (peers_ == 0) return;
    sessions_.insert(sessions_.end(), sessions.begin(), sessions.end());
    arm = Schedule();
  }
  if (arm) Arm();
}

// Queues change rarely, and a new broker must not miss that: no peer needs to be known.
void PeerNotifier::QueuesChanged() {
  bool arm = false;
  {
    base::MutexLock lock(mutex_);
    queues_changed_ = true;
    arm = Schedule();
  }
  if (arm) Arm();
}

bool PeerNotifier::Schedule() {
  if (is_scheduled_) return false;
  is_scheduled_ = true;
  return true;
}

// The first notification after a silence goes at once.
void PeerNotifier::Arm() {
  base::SteadyTime at;
  {
    base::MutexLock lock(mutex_);
    at = last_flush_ + kApart;
  }
  context_.timer.At(at, [this] { Flush(); });
}

void PeerNotifier::Flush() {
  std::vector<std::string> payloads;
  {
    base::MutexLock lock(mutex_);
    is_scheduled_ = false;
    last_flush_ = std::chrono::steady_clock::now();
    for (const auto& [key, notification] : tasks_) {
      payloads.push_back(model::FormatNotification(notification));
    }
    tasks_.clear();
    for (const auto& [place, tasks] : single_) {
      const auto texts = model::FormatTaskNotifications(place.first, context_.origin_id,
                                                        place.second, tasks);
      payloads.insert(payloads.end(), texts.begin(), texts.end());
    }
    single_.clear();
    const auto gone = model::FormatSessionNotifications(context_.origin_id, sessions_);
    payloads.insert(payloads.end(), gone.begin(), gone.end());
    sessions_.clear();
    if (queues_changed_) {
      model::Notification notification;
      notification.kind = model::NotificationKind::kQueues;
      notification.origin = context_.origin_id;
      payloads.push_back(model::FormatNotification(notification));
    }
    queues_changed_ = false;
  }
  const auto count = static_cast<int64_t>(payloads.size());
  auto send = [this, count, payloads](absl::StatusOr<pg::Session*> session) {
    if (!session.ok()) return;  // a notification may be lost
    const std::vector<absl::string_view> views(payloads.begin(), payloads.end());
    if (!store::SendNotifications(**session, views).ok()) return;
    for (int64_t i = 0; i < count; ++i) context_.metrics.Notification("sent");
  };
  context_.pool.Submit(std::move(send), {"notifications"});
}

}  // namespace skiplane::broker
