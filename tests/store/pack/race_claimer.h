// One of several who lease from the same lane, and settle as a broker does: in any order, late,
// twice, or not at all.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "server/base/mutex.h"
#include "server/pg/session.h"
#include "server/store/lease.h"
#include "tests/store/pack/race_log.h"

namespace skiplane::testing {

// Lets transactions stay open until others have gone on beside them, without a sleep.
// Thread-safe.
class Pacer {
 public:
  explicit Pacer(int claimers) : claimers_(claimers) {}

  void LeaseEnded();
  void SettlementBegins();  // it may wait for who waits here
  void SettlementEnded();
  void ClaimerEnded();
  // For so many leases, or until there cannot be any, as every claimer settles something.
  void AwaitLeases(int64_t count);

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  int64_t leases_ ABSL_GUARDED_BY(mutex_) = 0;
  int settling_ ABSL_GUARDED_BY(mutex_) = 0;
  int claimers_ ABSL_GUARDED_BY(mutex_);
};

// Sessions whose claimer left all that they hold.
struct Dead {
  std::vector<std::string> workers;
  std::vector<pg::Uuid> sessions;
  bool is_silent = false;  // else it ended them
};

struct Race {
  RaceLog log;
  Pacer pacer;
  const int64_t lane;
  const int64_t rest;  // with so many tasks left claimers end
  base::Mutex mutex;
  base::CondVar has_dead;
  std::deque<Dead> dead ABSL_GUARDED_BY(mutex);
  std::vector<RaceLog::Tokens> zombies ABSL_GUARDED_BY(mutex);
  int enqueuers ABSL_GUARDED_BY(mutex) = 0;
  int claimers ABSL_GUARDED_BY(mutex) = 0;

  Race(int64_t in, int64_t left, int enqueue, int claim)
      : pacer(claim), lane(in), rest(left), enqueuers(enqueue), claimers(claim) {}
};

// What a task of this id has, so that each can be known by what it brings.
model::NewTask RaceTask(int64_t id, bool is_typed, int16_t priority);

// Settles as a broker does: acks by location, what is left by id, what is still held once more
// under its lock. Returns the tokens whose leases are over.
RaceLog::Tokens SettleRaced(Race& race, pg::Session& session, RaceLog::Tokens tokens,
                            store::Action action);
// One statement. Notes all that it leased. A late one commits when others have leased beside it, as
// those may that share a transaction with acks.
std::vector<store::LeasedRow> LeaseRaced(Race& race, pg::Session& session,
                                         const store::LeaseDemand& demand, bool is_late = false);

class Claimer {
 public:
  // What it leased by one statement it may settle on both sessions at once.
  Claimer(Race& race, std::unique_ptr<pg::Session> session, std::unique_ptr<pg::Session> beside,
          int number, uint64_t seed);

  void Run();

 private:
  int Pick(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  bool IsAtEnd();
  void BeBorn();
  void LeaseSome();
  store::Action PickAction();
  void SettleSome();
  void Die();
  void Haunt();
  RaceLog::Tokens ForgedFrom(const RaceLog::Tokens& tokens);
  model::LeaseToken Forged(model::LeaseToken token);

  Race& race_;
  const std::unique_ptr<pg::Session> session_;
  const std::unique_ptr<pg::Session> beside_;
  const int number_;
  std::mt19937_64 random_;
  int lives_ = 0;
  int empty_leases_ = 0;  // one after the other
  std::vector<std::string> workers_;
  std::vector<pg::Uuid> sessions_;
  std::map<int64_t, model::LeaseToken> held_;
  RaceLog::Tokens settled_;
};

}  // namespace skiplane::testing
