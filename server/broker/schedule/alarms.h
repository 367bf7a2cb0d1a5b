// The times at which a scheduler wants to be called: ends of waits, and what a lane does of its own
// accord. Pure, not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "server/base/timer.h"
#include "server/model/lane_stage.h"

namespace skiplane::broker {

struct Ticket;

class Alarms {
 public:
  using Id = uint64_t;  // 0 is never used
  using Target = std::variant<model::LaneStage, std::shared_ptr<Ticket>>;

  Id Set(base::SteadyTime at, Target target) {
    const Id id = ++last_id_;
    entries_.emplace(Key{at, id}, std::move(target));
    times_.emplace(id, at);
    return id;
  }

  void Cancel(Id id) {
    const auto known = times_.find(id);
    if (known == times_.end()) return;
    entries_.erase({known->second, id});
    times_.erase(known);
  }

  // The end of time if there is none.
  base::SteadyTime Next() const {
    return entries_.empty() ? base::SteadyTime::max() : entries_.begin()->first.first;
  }

  // Takes the next one that is due; false: there is none.
  bool TakeDue(base::SteadyTime now, Target* target) {
    if (Next() > now || entries_.empty()) return false;
    auto entry = entries_.extract(entries_.begin());
    times_.erase(entry.key().second);
    *target = std::move(entry.mapped());
    return true;
  }

 private:
  using Key = std::pair<base::SteadyTime, Id>;
  std::map<Key, Target> entries_;
  std::map<Id, base::SteadyTime> times_;
  Id last_id_ = 0;
};

}  // namespace skiplane::broker
