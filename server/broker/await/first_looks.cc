#include "server/broker/await/first_looks.h"

namespace skiplane::broker {

std::vector<model::TaskId> FirstLooks::TakeDue(base::SteadyTime now) {
  std::vector<model::TaskId> due;
  for (; !looks_.empty() && looks_.front().time <= now; looks_.pop_front()) {
    due.push_back(looks_.front().task);
  }
  return due;
}

std::optional<base::SteadyTime> FirstLooks::Next() const {
  if (looks_.empty()) return std::nullopt;
  return looks_.front().time;
}

}  // namespace skiplane::broker
