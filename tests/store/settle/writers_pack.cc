// The writers of packs.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/pg/transaction.h"
#include "server/store/lease.h"
#include "server/store/pack.h"
#include "tests/store/settle/writers.h"
#include "tests/store/store_harness.h"

namespace skiplane::testing {
namespace {

constexpr int kPacks = 3;
constexpr int kPackTasks = 24;
constexpr int16_t kPackPriority = 3;  // of no task with a key, when it is made

}  // namespace

void Writers::RefillPacks(pg::Session& session, Random& random) {
  store::SettleBatch held;
  held.lane = lane_;
  {
    base::MutexLock lock(mutex_);
    std::ranges::sort(packed_, {}, [](const auto& token) { return token.task.id; });
    for (const model::LeaseToken& token : packed_) held.rows.emplace_back().token = token;
    packed_.clear();
  }
  Required(store::Settle(session, held));
  const pg::Rows waiting = Required(session.RunText(
      "SELECT count(*) FROM skiplane.packed_task WHERE state = 1"));
  absl::Status status;
  if (waiting.Int(0, 0) < kPacks * kPackTasks) status = EnqueuePacked(session, random, false);
  if (status.ok()) status = LeasePacked(session, random, false);
  Require(status.ok(), status.ToString());
}

absl::Status Writers::EnqueuePacked(pg::Session& session, Random& random, bool with_request) {
  const std::vector<model::NewTask> tasks(kPacks * kPackTasks, TaskWithPriority(kPackPriority));
  // The ids of a pack have no gap, and between two packs is one.
  int64_t id = next_id_.fetch_add(kPacks * (kPackTasks + 1));
  std::vector<store::TaskRow> rows;
  for (const model::NewTask& task : tasks) {
    if (rows.size() % kPackTasks == 0) ++id;
    rows.push_back({{lane_, id++}, &task, 10});
  }
  std::vector<store::RequestRow> requests;
  if (with_request) requests = Requests(rows, random);
  const auto packed = store::EnqueuePacked(session, rows, requests);
  Require(packed.has_value(), "they are packed");
  return packed->status();
}

// All of a pack, and so much of the next one that the rest becomes another. Some callers have a
// request id that some of the calls beside have, too: then one of the two leases nothing.
absl::Status Writers::LeasePacked(pg::Session& session, Random& random, bool with_request) {
  const int64_t call = next_lease_++;
  store::LeaseDemand demand;
  demand.lane = lane_;
  demand.has_packs = true;
  demand.bounds = {{kPackPriority}};
  for (int i = 0; i < kWorkers; ++i) {
    demand.slots.insert(demand.slots.end(), 10, i + 1);
    demand.callers.push_back({SessionOf(i), 1 << 20, model::NewSessionId(), ""});
    if (!with_request || random() % 2 == 0) continue;
    demand.callers.back().request_id = absl::StrCat("lease-", i, "-", call / 4);
  }
  std::ranges::shuffle(demand.callers, random);
  const absl::StatusOr<store::Leased> leased = store::Lease(session, demand);
  if (absl::IsAlreadyExists(leased.status())) return absl::OkStatus();
  if (!leased.ok()) return leased.status();
  base::MutexLock lock(mutex_);
  std::ranges::copy(TokensOf(leased->rows), std::back_inserter(packed_));
  return absl::OkStatus();
}

// Some of what waits and of what is leased, as an operator does.
absl::Status Writers::Prioritize(pg::Session& session, Random& random) {
  std::vector<int64_t> ids = LivingIds(session, random);
  ids.resize(ids.size() / 4);
  model::TaskChange change;
  change.kind = model::TaskChange::Kind::kPrioritize;
  change.priority = static_cast<int16_t>(random() % (kPackPriority + 1));
  return pg::InTransaction(session, [&] {
    return store::ChangeTasks(session, store::TaskTable::kLiving, lane_, ids, change,
                              model::QueueSettings())
        .status();
  });
}

}  // namespace skiplane::testing
