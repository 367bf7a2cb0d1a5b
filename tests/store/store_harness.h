// A database of the test's own with one queue of one lane, and short forms of the store's verbs.
// The store's sessions have the rights of a broker, and no other.
//
// When a test ends, the counters must say what the tables hold: every test proves that as well.
// Not thread-safe, apart from Open().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/metrics/metrics.h"
#include "server/pg/session.h"
#include "server/store/enqueue.h"
#include "server/store/lease.h"
#include "server/store/settle.h"
#include "tests/support/database.h"
#include "tests/support/require.h"

namespace skiplane::testing {

// Hears of every statement that a test of this program runs through the store.
metrics::Metrics& StatementsRun();

// A uuid whose bytes are all `byte`.
pg::Uuid UuidOf(uint8_t byte);
inline const pg::Uuid kWorker = UuidOf(1);
inline const pg::Uuid kOtherWorker = UuidOf(2);
inline const pg::Uuid kLedger = UuidOf(101);
inline const pg::Uuid kOtherLedger = UuidOf(102);

inline model::QueueSettings SettingsWith(model::HistoryPolicy history) {
  model::QueueSettings settings;
  settings.history = history;
  return settings;
}

class StoreHarness : public ::testing::Test {
 protected:
  enum class User { kBroker, kSuperuser };

  explicit StoreHarness(User user = User::kBroker);
  void TearDown() override { ExpectExactCounts(); }

  // Waits for locks as long as a slow machine takes to get to the point that is tested.
  pg::ConnectOptions Options() const {
    return {.uri = user_ == User::kBroker ? database_.broker_uri() : database_.uri(),
            .statement_timeout = absl::Seconds(50),
            .lock_timeout = absl::Seconds(50)};
  }
  std::unique_ptr<pg::Session> Open() const;
  std::string Sql(const std::string& text) const { return database_.Run(text); }
  int64_t Number(const std::string& text) const;

  int64_t MakeLane(const std::string& queue);

  // Enqueues and returns the new ids.
  std::vector<int64_t> Put(int count, const model::NewTask& like = {}, int32_t max_attempts = 10);
  int64_t PutOne(const model::NewTask& like = {}, int32_t max_attempts = 10);
  // Rows for store::Enqueue with fresh ids. They point to `tasks`.
  std::vector<store::TaskRow> Rows(const std::vector<model::NewTask>& tasks);

  // Of all priorities that the lane has, from their starts; slots are indexes + 1 of callers, of
  // which there are as many as the highest slot says, with the sessions UuidOf(1), UuidOf(2), …
  store::LeaseDemand Demand(const std::vector<int32_t>& slots);
  // Leases up to `count` tasks that are due, in the order of leases.
  std::vector<store::LeasedRow> Take(int count, const pg::Uuid& worker = kWorker);
  model::LeaseToken TakeOne(const pg::Uuid& worker = kWorker);

  store::SettleBatch Batch(const std::vector<model::LeaseToken>& tokens,
                           store::Action action = store::Action::kAck) const;
  // By id; returns how many were settled.
  size_t Settle(const std::vector<model::LeaseToken>& tokens, store::Action action);
  store::LeaseStatus ClassifyOne(const model::LeaseToken& token);

  // Makes every waiting task due, as if time had passed.
  void LetTimePass() const;
  // Returns when that backend waits for a lock.
  void WaitUntilBlocked(const pg::Session& session) const;

  void ExpectExactCounts();

  const User user_;
  Database database_;
  std::unique_ptr<pg::Session> session_;
  int64_t next_id_;
  int64_t lane_;
};

// A task of this payload.
model::NewTask TaskOf(const std::string& payload);
model::NewTask KeyedTask(const std::string& key);
model::NewTask TaskIn(absl::Duration delay);
model::NewTask TaskWithPriority(int16_t priority);

std::vector<model::LeaseToken> TokensOf(const std::vector<store::LeasedRow>& rows);
std::vector<int64_t> IdsOf(const std::vector<store::LeasedRow>& rows);

}  // namespace skiplane::testing
