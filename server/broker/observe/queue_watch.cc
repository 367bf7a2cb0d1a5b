#include "server/broker/observe/queue_watch.h"

#include <utility>

namespace skiplane::broker {

void QueueWatch::Set(Looks looks) {
  auto last = std::make_shared<const Looks>(std::move(looks));
  const base::MutexLock lock(mutex_);
  looks_.swap(last);
}

std::shared_ptr<const QueueWatch::Looks> QueueWatch::Last() const {
  const base::MutexLock lock(mutex_);
  return looks_;
}

}  // namespace skiplane::broker
