// Tasks that callers get by the statement that makes them.
#include <utility>

#include "server/broker/api/refusals.h"
#include "tests/simulation/world.h"

namespace skiplane::simulation {

using broker::Step;

// A broker has two batches of a queue under way at most.
bool World::MayHandOff(const Input& input) {
  if (input.broker < 0 || input.span.count() != 0 || !Chance(history_.hand_off)) return false;
  return known_[static_cast<size_t>(input.broker)].handing.count(LaneStageOf(input.what)) < 2;
}

void World::EnqueueAndLease(const Input& input) {
  const int broker = input.broker;
  const LaneStage lane_stage = LaneStageOf(input.what);
  auto run = std::make_shared<broker::LeaseRun>();
  Perform(broker, Do(broker, [&](auto& scheduler, Step& step) {
            *run = scheduler.HandOff(lane_stage, input.count, step);
          }));
  if (run->tickets.empty()) return EnqueueAt(input);
  Knowledge& knowledge = known_[static_cast<size_t>(broker)];
  judge_.Dealt(*run, broker, waiting_);
  judge_.First(*run, broker, !knowledge.handing.contains(lane_stage), waiting_, now_);
  judge_.HandedOff(*run, knowledge, DatabaseNow(), now_);
  // Who has no session is served by a statement of its own, and so are those behind it.
  std::vector<int32_t>& slots = run->demand.slots;
  if (Chance(100)) slots.resize(static_cast<size_t>(Pick(0, static_cast<int>(slots.size()))));
  knowledge.handing.insert(lane_stage);
  After(Latency(), [=, this] {
    const bool is_away = !brokers_[static_cast<size_t>(broker)].is_connected;
    if (is_away || Chance(history_.failing)) return EndLease(broker, run, store::Leased());
    CommitHandOff(input, run);
  });
}

void World::CommitHandOff(const Input& input, const Run& run) {
  if (IsTaken(*run)) {
    EndLease(input.broker, run, absl::AlreadyExistsError("taken"));
    return EnqueueAt(input);
  }
  const std::vector<int32_t>& slots = run->demand.slots;
  const bool lives = !Chance(100);  // else the statement finds that the sessions have ended
  std::vector<int64_t> leased;
  std::vector<int64_t> others;
  std::map<int64_t, std::string> leases;
  for (int i = 0; i < input.count; ++i) {
    const int64_t id = Insert(input, DatabaseNow());
    const bool is_leased = lives && static_cast<size_t>(i) < slots.size();
    (is_leased ? leased : others).push_back(id);
    if (!is_leased) continue;
    const auto caller = static_cast<size_t>(slots[static_cast<size_t>(i)] - 1);
    leases[id] = run->demand.callers[caller].request_id;
  }
  tables_.Commit(leases, now_);
  const store::Leased rows = Rows(*run, leased);
  const store::UnleasedTasks unleased = UnleasedOf(others);
  const int broker = input.broker;
  if (Chance(history_.failing / 2)) {  // the answer is lost
    Tell(-1, unleased, others);
    return After(Span(Pick(50, 1500)), [=, this] {
      Unhealthy(broker);
      if (!rows.rows.empty()) return EndLease(broker, run, rows);
      EndLease(broker, run, broker::RepeatLater());
    });
  }
  // Others may have leased some of them by then, and be done with them. If the clock has jumped
  // meanwhile, what is told of their times is wrong.
  After(Latency(), [=, this, jumps = clock_jumps_] {
    Tell(broker, unleased, jumps == clock_jumps_ ? others : std::vector<int64_t>());
    EndLease(broker, run, rows);
  });
}

}  // namespace skiplane::simulation
