// Every statement that may wait for rows, as something to be run by several sessions at once on the
// same few keys, in an order of its own each time. Thread-safe, apart from Refill().
#pragma once

#include <atomic>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/pg/session.h"
#include "server/store/enqueue.h"
#include "server/store/settle.h"
#include "server/store/task_change.h"

namespace skiplane::testing {

class Writers {
 public:
  using Random = std::mt19937;
  struct Writer {
    std::string name;
    std::function<absl::Status(pg::Session&, Random&)> run;
  };

  Writers(int64_t lane, int64_t first_id) : lane_(lane), next_id_(first_id) {}

  // Every key has a task again: some wait, some are leased, some failed. There are packs again:
  // some wait, some are leased.
  void Refill(pg::Session& session, Random& random);

  std::vector<Writer> All();

 private:
  static constexpr int kWorkers = 4;

  static model::SessionId SessionOf(int worker);
  std::vector<std::string> Shuffled(Random& random) const;
  std::vector<model::NewTask> KeyedTasks(Random& random, model::KeyPolicy policy);
  std::vector<store::TaskRow> RowsOf(const std::vector<model::NewTask>& tasks);
  absl::Status Enqueue(pg::Session& session, Random& random, model::KeyPolicy policy,
                       bool with_request);
  std::vector<store::RequestRow> Requests(std::vector<store::TaskRow>& rows, Random& random) const;
  absl::Status Ask(pg::Session& session, Random& random);
  absl::Status EnqueueBySql(pg::Session& session, Random& random);
  absl::Status EnqueuePacked(pg::Session& session, Random& random, bool with_request);
  absl::Status LeasePacked(pg::Session& session, Random& random, bool with_request);
  absl::Status Ack(pg::Session& session, Random& random);
  absl::Status Settle(pg::Session& session, Random& random);
  absl::Status SettleLocked(pg::Session& session, Random& random, bool has_follow_ups);
  absl::Status Change(pg::Session& session, Random& random, model::TaskChange::Kind kind);
  absl::Status Prioritize(pg::Session& session, Random& random);
  absl::Status ChangeOnce(pg::Session& session, Random& random);
  absl::Status ChangeFailed(pg::Session& session, Random& random, model::TaskChange::Kind kind);
  absl::Status Reclaim(pg::Session& session);
  static absl::Status Touch(pg::Session& session);
  static absl::Status RenewSessions(pg::Session& session);
  static absl::Status End(pg::Session& session);
  absl::Status Tell(pg::Session& session);
  absl::Status Expire(pg::Session& session);
  absl::Status MendClock(pg::Session& session);
  absl::Status Fold(pg::Session& session) const;
  void RefillPacks(pg::Session& session, Random& random);
  store::SettleBatch SomeLeases(Random& random);
  std::vector<int64_t> Ids(pg::Session& session, const std::string& from, Random& random) const;
  std::vector<int64_t> LivingIds(pg::Session& session, Random& random) const;

  const int64_t lane_;
  std::atomic<int64_t> next_id_;
  std::atomic<int64_t> next_version_ = 1;
  std::atomic<int64_t> next_lease_ = 0;
  base::Mutex mutex_;
  std::vector<model::LeaseToken> leases_ ABSL_GUARDED_BY(mutex_);
  std::vector<model::LeaseToken> packed_ ABSL_GUARDED_BY(mutex_);  // and some that were
};

}  // namespace skiplane::testing
