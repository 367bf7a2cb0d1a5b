// One run of the benchmark: its options, its clusters, its lines. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/broker_run.h"
#include "tests/bench/load/cycle.h"
#include "tests/bench/figures.h"
#include "tests/bench/options.h"

namespace skiplane::bench {

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  const Options& options() const { return options_; }

  // The cluster of all scenarios that leave little behind; started at its first use.
  BrokerRun& shared();
  // A new one.
  std::unique_ptr<BrokerRun> Fresh(bool is_secured = false) const;

  // A size, or a twentieth of it with --quick.
  int64_t Scaled(int64_t size) const { return options_.is_quick ? size / 20 : size; }

  // Prints the line of `figures`.
  void Print(Figures figures) const;

  // The rate of `load` and its line's other figures, without printing.
  Figures Cycle(const std::string& name, BrokerRun& broker, const CycleLoad& load = {}) const;

  // Tasks per ack statement of cycle_batch; 0 before that ran.
  double rows_per_statement = 0;
  double batch_tasks_per_s = 0;

 private:
  const Options options_;
  std::unique_ptr<BrokerRun> shared_;
};

struct Scenario {
  std::string name;
  void (*run)(Bench&, const std::string& name);
  bool is_on_demand = false;  // only with --only
};

// In the order in which they run.
const std::vector<Scenario>& Scenarios();

void RunBatch(Bench& bench, const std::string& name);
void RunRawSql(Bench& bench, const std::string& name);
void RunNoHistory(Bench& bench, const std::string& name);
void RunUnary(Bench& bench, const std::string& name);
void RunChainedBatch(Bench& bench, const std::string& name);
void RunChainedUnary(Bench& bench, const std::string& name);
void RunSecuredBatch(Bench& bench, const std::string& name);
void RunSecuredUnary(Bench& bench, const std::string& name);
void RunOne(Bench& bench, const std::string& name);
void RunDrain(Bench& bench, const std::string& name);
void RunPickup(Bench& bench, const std::string& name);
void RunStreamSingle(Bench& bench, const std::string& name);
void RunStreamHalfLoaded(Bench& bench, const std::string& name);
void RunStreamPickup(Bench& bench, const std::string& name);
void RunParked(Bench& bench, const std::string& name);
void RunHeartbeats(Bench& bench, const std::string& name);
void RunBeating(Bench& bench, const std::string& name);
void RunDeadWorkers(Bench& bench, const std::string& name);
void RunApartBatch(Bench& bench, const std::string& name);
void RunApartUnary(Bench& bench, const std::string& name);
void RunApartAutovacuum(Bench& bench, const std::string& name);
void RunLight(Bench& bench, const std::string& name);
void RunSnapshot(Bench& bench, const std::string& name);
void RunHandMadeBatch(Bench& bench, const std::string& name);
void RunHandMadeUnary(Bench& bench, const std::string& name);
void RunHandMadeAutovacuum(Bench& bench, const std::string& name);
void RunHandMadeLight(Bench& bench, const std::string& name);
void RunHandMadeSnapshot(Bench& bench, const std::string& name);
void RunWorkers(Bench& bench, const std::string& name);
void RunBrokers(Bench& bench, const std::string& name);
void RunNeighbours(Bench& bench, const std::string& name);
void RunQueues(Bench& bench, const std::string& name);
void RunBacklog1m(Bench& bench, const std::string& name);
void RunBacklog10m(Bench& bench, const std::string& name);
void RunHistory10m(Bench& bench, const std::string& name);
void RunDelayed1m(Bench& bench, const std::string& name);
void RunPeriodic(Bench& bench, const std::string& name);
void RunStages(Bench& bench, const std::string& name);
void RunKeyed(Bench& bench, const std::string& name);
void RunAdmin(Bench& bench, const std::string& name);
void RunFlat(Bench& bench, const std::string& name);

}  // namespace skiplane::bench
