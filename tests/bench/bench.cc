#include "tests/bench/bench.h"

#include <iostream>

#include "tests/bench/stage.h"

namespace skiplane::bench {

BrokerRun& Bench::shared() {
  if (shared_ == nullptr) shared_ = Fresh();
  return *shared_;
}

std::unique_ptr<BrokerRun> Bench::Fresh(bool is_secured) const {
  return std::make_unique<BrokerRun>(options_.broker, options_.directory, is_secured);
}

void Bench::Print(Figures figures) const { std::cout << ToJson(std::move(figures)) << std::endl; }

Figures Bench::Cycle(const std::string& name, BrokerRun& broker, const CycleLoad& load) const {
  Stage stage(name, broker, options_);
  return RunCycle(stage, load);
}

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> scenarios = {
      {"cycle_batch", &RunBatch},
      {"raw_sql", &RunRawSql},
      {"cycle_batch_no_history", &RunNoHistory},
      {"cycle_unary", &RunUnary},
      {"apart_batch", &RunApartBatch},
      {"hand_made", &RunHandMadeBatch},
      {"apart_unary", &RunApartUnary},
      {"hand_made_unary", &RunHandMadeUnary},
      {"light_load", &RunLight},
      {"hand_made_light", &RunHandMadeLight},
      {"apart_autovacuum", &RunApartAutovacuum},
      {"hand_made_autovacuum", &RunHandMadeAutovacuum},
      {"chained_batch", &RunChainedBatch},
      {"chained_unary", &RunChainedUnary},
      {"secured_batch", &RunSecuredBatch},
      {"secured_unary", &RunSecuredUnary},
      {"cycle_one", &RunOne},
      {"drain", &RunDrain},
      {"pickup_latency", &RunPickup},
      {"stream_single", &RunStreamSingle},
      {"stream_half_loaded", &RunStreamHalfLoaded},
      {"stream_pickup", &RunStreamPickup},
      {"parked", &RunParked},
      {"heartbeats", &RunHeartbeats},
      {"beating", &RunBeating},
      {"dead_worker", &RunDeadWorkers},
      {"workers_10_vs_100", &RunWorkers},
      {"queues_1000", &RunQueues},
      {"neighbours", &RunNeighbours},
      {"brokers_1_vs_4", &RunBrokers},
      {"snapshot", &RunSnapshot},
      {"hand_made_snapshot", &RunHandMadeSnapshot},
      {"delayed_1m", &RunDelayed1m},
      {"backlog_1m", &RunBacklog1m},
      {"backlog_10m", &RunBacklog10m},
      {"history_10m", &RunHistory10m},
      {"stages", &RunStages},
      {"periodic", &RunPeriodic},
      {"keyed", &RunKeyed},
      {"admin", &RunAdmin},
      {"flat_10min", &RunFlat, /*is_on_demand=*/true},
  };
  return scenarios;
}

}  // namespace skiplane::bench
