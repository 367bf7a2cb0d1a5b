// Tells the other brokers of commits here, in notifications that go out at most every 50 ms,
// gathered by lane, so that no enqueue pays for a NOTIFY. Silent while no other broker runs.
// Thread-safe.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "server/base/mutex.h"
#include "server/broker/batch/context.h"
#include "server/model/notification.h"
#include "server/store/enqueue.h"

namespace skiplane::broker {

class PeerNotifier {
 public:
  explicit PeerNotifier(Context& context) : context_(context) {}

  void Tasks(const store::UnleasedTasks& unleased);
  void QueuesChanged();

  // Calls here wait for the end of this task. Returns whether there is anybody to tell.
  bool Awaited(const model::TaskId& task);
  // Tasks that calls at other brokers wait for have ended.
  void Ended(int64_t lane, absl::Span<const int64_t> tasks);

  // Sessions ended here.
  void SessionsGone(absl::Span<const model::SessionId> sessions);

  // How many other brokers run.
  void SetPeers(int64_t peers);

 private:
  using Key = std::tuple<int64_t, int16_t, int16_t, bool>;  // lane, stage, priority, can run

  using TasksOfKind = std::map<std::pair<model::NotificationKind, int64_t>, std::vector<int64_t>>;

  bool Schedule() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Arm();
  void Flush();

  Context& context_;
  base::Mutex mutex_;
  int64_t peers_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_scheduled_ ABSL_GUARDED_BY(mutex_) = false;
  base::SteadyTime last_flush_ ABSL_GUARDED_BY(mutex_){};
  bool queues_changed_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<Key, model::Notification> tasks_ ABSL_GUARDED_BY(mutex_);
  TasksOfKind single_ ABSL_GUARDED_BY(mutex_);  // awaited or ended ones of a lane
  std::vector<model::SessionId> sessions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skiplane::broker
