// A call of a simulated worker, and what its broker can know.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "server/broker/schedule/scheduler.h"
#include "tests/simulation/tables.h"

namespace skiplane::simulation {

// One call, from its admission to its answer.
struct Caller {
  broker::TicketPtr ticket;
  int broker = 0;
  bool is_reserved = false;
  bool is_gone = false;
  bool is_repeated = false;  // at the same broker
  base::SteadyTime began;
  base::SteadyTime enlisted{};  // since when it waits in its lanes
  int64_t number = 0;  // the same in each run
  int64_t turn = 0;    // the order in which they came to wait in their lanes
  int answers = 0;
  bool IsInLanes() const {
    return ticket->state == broker::Ticket::State::kWaiting && !ticket->entries.empty();
  }
  std::set<LaneStage> left_some{};  // packs that others held
  std::map<std::string, int> passed{};  // by whom: since whom that concerns was served
};

// What a broker was told and can know.
struct Knowledge {
  std::map<int64_t, base::SteadyTime> tasks;  // ready ones, and since when they are
  std::map<LaneStage, const broker::LaneStageState*> states;  // where somebody waited
  std::multiset<LaneStage> leasing;   // statements that are sent and have not run
  std::multiset<LaneStage> reserved;  // for acks whose transactions have not ended
  std::multiset<LaneStage> handing;   // enqueues that hand off and have not ended
  base::SteadyTime healthy_since;     // nothing failed at the broker since
};

}  // namespace skiplane::simulation
