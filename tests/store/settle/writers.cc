#include "tests/store/settle/writers.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/store/admin_requests.h"
#include "server/store/clock.h"
#include "server/store/counts.h"
#include "server/store/lease.h"
#include "server/store/reclaim.h"
#include "server/store/retention.h"
#include "server/store/sessions.h"
#include "tests/store/store_harness.h"

namespace skiplane::testing {
namespace {

using Kind = model::TaskChange::Kind;
using model::KeyPolicy;

constexpr int kKeys = 40;

std::string WorkerOf(int worker) { return absl::StrCat("worker-", worker); }

store::Touch TouchOf(int worker, const model::SessionId& new_id) {
  return {WorkerOf(worker), "", new_id, absl::Seconds(30), absl::Seconds(1)};
}

}  // namespace

void Writers::Refill(pg::Session& session, Random& random) {
  // Failed ones first, so that the lease finds no others.
  for (const auto action : {store::Action::kFail, store::Action::kHang}) {
    const absl::Status made = Enqueue(session, random, KeyPolicy::kReplaceWaiting, false);
    Require(made.ok(), made.ToString());
    store::LeaseDemand demand;
    demand.lane = lane_;
    for (int16_t priority = 0; priority < 3; ++priority) demand.bounds.push_back({priority});
    for (int i = 0; i < kKeys / 2; ++i) demand.slots.push_back(1 + i % kWorkers);
    for (int i = 0; i < kWorkers; ++i) {
      demand.callers.push_back({SessionOf(i), 1 << 20, model::NewSessionId(), ""});
    }
    const std::vector<store::LeasedRow> rows = Required(store::Lease(session, demand)).rows;
    base::MutexLock lock(mutex_);
    leases_ = TokensOf(rows);
    if (action != store::Action::kFail) break;
    store::SettleBatch batch;
    batch.lane = lane_;
    for (const model::LeaseToken& token : leases_) {
      batch.rows.emplace_back().token = token;
      batch.rows.back().action = action;
    }
    std::ranges::sort(batch.rows, {}, [](const auto& row) { return row.token.task.id; });
    Required(store::Settle(session, batch));
  }
  RefillPacks(session, random);
  Required(session.RunText(
      "DELETE FROM skiplane.worker_session; DELETE FROM skiplane.admin_request"));
  std::vector<store::Touch> touches;
  for (int i = 0; i < kWorkers; ++i) touches.push_back(TouchOf(i, SessionOf(i)));
  Required(store::TouchSessions(session, touches));
  // As if the clock had gone back since.
  Required(session.RunText(
      "DELETE FROM skiplane.clock_step;"
      "UPDATE skiplane.worker_session SET expire_time = expire_time + interval '1 hour';"
      "INSERT INTO skiplane.clock_step (old_time, seen_time) "
      "VALUES (clock_timestamp() + interval '1 hour', now())"));
}

model::SessionId Writers::SessionOf(int worker) {
  return UuidOf(static_cast<uint8_t>(worker + 1));
}

std::vector<Writers::Writer> Writers::All() {
  const auto enqueue = [this](KeyPolicy policy, bool with_request = false) {
    return [this, policy, with_request](pg::Session& session, Random& random) {
      return Enqueue(session, random, policy, with_request);
    };
  };
  const auto change = [this](Kind kind) {
    return [this, kind](pg::Session& s, Random& random) { return Change(s, random, kind); };
  };
  const auto failed = [this](Kind kind) {
    return [this, kind](pg::Session& s, Random& random) { return ChangeFailed(s, random, kind); };
  };
  return {
      {"keep", enqueue(KeyPolicy::kKeep)},
      {"keep unfinished", enqueue(KeyPolicy::kKeepUnfinished)},
      {"rerun", enqueue(KeyPolicy::kRerunIfNewer)},
      {"replace", enqueue(KeyPolicy::kReplaceWaiting)},
      {"declare", enqueue(KeyPolicy::kSchedule)},
      {"replace with request ids", enqueue(KeyPolicy::kReplaceWaiting, true)},
      {"ask", [this](auto& s, Random& random) { return Ask(s, random); }},
      {"replace by SQL", [this](auto& s, Random& random) { return EnqueueBySql(s, random); }},
      {"enqueue packed",
       [this](auto& s, Random& random) { return EnqueuePacked(s, random, true); }},
      {"lease packed", [this](auto& s, Random& random) { return LeasePacked(s, random, true); }},
      {"ack", [this](auto& s, Random& random) { return Ack(s, random); }},
      {"settle", [this](auto& s, Random& random) { return Settle(s, random); }},
      {"lock and settle",
       [this](auto& s, Random& random) { return SettleLocked(s, random, false); }},
      {"settle with follow-ups",
       [this](auto& s, Random& random) { return SettleLocked(s, random, true); }},
      {"reclaim", [this](auto& s, Random&) { return Reclaim(s); }},
      {"cancel", change(Kind::kCancel)},
      {"remove", change(Kind::kDelete)},
      {"prioritize", [this](auto& s, Random& random) { return Prioritize(s, random); }},
      {"change once", [this](auto& s, Random& random) { return ChangeOnce(s, random); }},
      {"retry failed", failed(Kind::kRetry)},
      {"remove failed", failed(Kind::kDelete)},
      {"touch", [](auto& s, Random&) { return Touch(s); }},
      {"renew", [](auto& s, Random&) { return RenewSessions(s); }},
      {"end", [](auto& s, Random&) { return End(s); }},
      {"tell", [this](auto& s, Random&) { return Tell(s); }},
      {"expire", [this](auto& s, Random&) { return Expire(s); }},
      {"clock", [this](auto& s, Random&) { return MendClock(s); }},
      {"fold", [this](auto& s, Random&) { return Fold(s); }},
  };
}

std::vector<std::string> Writers::Shuffled(Random& random) const {
  std::vector<int> order(kKeys);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  order.resize(kKeys * 3 / 4);
  std::vector<std::string> keys;
  for (const int key : order) keys.push_back(absl::StrCat("key-", key * 7919 % 101));
  return keys;
}

std::vector<model::NewTask> Writers::KeyedTasks(Random& random, KeyPolicy policy) {
  std::vector<model::NewTask> tasks;
  for (const std::string& key : Shuffled(random)) {
    model::NewTask& task = tasks.emplace_back(KeyedTask(key));
    task.key_policy = policy;
    if (policy == KeyPolicy::kSchedule) {
      task.period = absl::Hours(1 + static_cast<int64_t>(random() % 2));
    } else {
      task.version = next_version_++;
    }
    task.priority = static_cast<int16_t>(random() % 3);
  }
  return tasks;
}

std::vector<store::TaskRow> Writers::RowsOf(const std::vector<model::NewTask>& tasks) {
  std::vector<store::TaskRow> rows;
  for (const model::NewTask& task : tasks) rows.push_back({{lane_, next_id_++}, &task, 10});
  return rows;
}

// Makes each row a call of its own.
std::vector<store::RequestRow> Writers::Requests(std::vector<store::TaskRow>& rows,
                                                 Random& random) const {
  std::vector<store::RequestRow> requests;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].call = rows[i].id.id;
    const int64_t request = static_cast<int64_t>(i) * 1000 + static_cast<int64_t>(random() % 3);
    requests.push_back({lane_, absl::StrCat("request-", request), "hash", rows[i].call});
  }
  std::ranges::sort(requests, {}, &store::RequestRow::request_id);
  return requests;
}

absl::Status Writers::Enqueue(pg::Session& session, Random& random, KeyPolicy policy,
                              bool with_request) {
  const std::vector<model::NewTask> tasks = KeyedTasks(random, policy);
  std::vector<store::TaskRow> rows = RowsOf(tasks);
  std::vector<store::RequestRow> requests;
  if (with_request) requests = Requests(rows, random);
  return store::EnqueueOnce(session, rows, requests).status();
}

absl::Status Writers::Ask(pg::Session& session, Random& random) {
  const std::vector<model::NewTask> tasks(kKeys * 3 / 4);
  std::vector<store::TaskRow> rows = RowsOf(tasks);
  const std::vector<store::RequestRow> requests = Requests(rows, random);
  return store::EnqueueAsked(session, rows, requests).status();
}

absl::Status Writers::EnqueueBySql(pg::Session& session, Random& random) {
  std::string tasks;
  for (const std::string& key : Shuffled(random)) {
    absl::StrAppend(&tasks, tasks.empty() ? "" : ", ", "skiplane.make_task('x', '", key,
                    "', 'replace_waiting')");
  }
  return session.RunText(absl::StrCat("SELECT skiplane.enqueue_many(name, ARRAY[", tasks,
                                      "]) FROM skiplane.queue"))
      .status();
}

store::SettleBatch Writers::SomeLeases(Random& random) {
  store::SettleBatch batch;
  batch.lane = lane_;
  base::MutexLock lock(mutex_);
  for (const auto* const tokens : {&leases_, &packed_}) {
    for (const model::LeaseToken& token : *tokens) {
      if (random() % 4 == 0) continue;
      batch.rows.emplace_back().token = token;
    }
  }
  std::ranges::sort(batch.rows, {}, [](const auto& row) { return row.token.task.id; });
  return batch;
}

absl::Status Writers::Ack(pg::Session& session, Random& random) {
  store::SettleBatch packed = SomeLeases(random);
  store::SettleBatch rows = packed;
  std::erase_if(packed.rows, [](const auto& row) { return !row.token.IsPacked(); });
  std::erase_if(rows.rows, [](const auto& row) { return row.token.IsPacked(); });
  RETURN_IF_ERROR(store::AckByLocation(session, packed).status());
  return store::AckByLocation(session, rows).status();
}

absl::Status Writers::Settle(pg::Session& session, Random& random) {
  store::SettleBatch batch = SomeLeases(random);
  for (store::SettleRow& row : batch.rows) {
    constexpr store::Action kActions[] = {store::Action::kAck, store::Action::kRetry,
                                          store::Action::kFail, store::Action::kRelease};
    row.action = kActions[random() % 4];
  }
  return store::Settle(session, batch).status();
}

// As one that was overtaken, or whose follow-ups deadlocked.
absl::Status Writers::SettleLocked(pg::Session& session, Random& random, bool has_follow_ups) {
  const store::SettleBatch batch = SomeLeases(random);
  std::vector<int64_t> ids;
  for (const store::SettleRow& row : batch.rows) ids.push_back(row.token.task.id);
  std::vector<model::NewTask> follow_ups;
  if (has_follow_ups) follow_ups = KeyedTasks(random, KeyPolicy::kKeep);
  store::FollowUpKeys keys;
  for (const model::NewTask& task : follow_ups) {
    keys.lanes.push_back(lane_);
    keys.keys.push_back(task.key);
  }
  RETURN_IF_ERROR(session.RunText("BEGIN").status());
  absl::Status status = store::LockTasks(session, lane_, ids, keys);
  if (status.ok()) status = store::Settle(session, batch).status();
  if (status.ok() && has_follow_ups) {
    status = store::EnqueueOnce(session, RowsOf(follow_ups), {}).status();
  }
  Required(session.RunText(status.ok() ? "COMMIT" : "ROLLBACK"));
  return status;
}

absl::Status Writers::Reclaim(pg::Session& session) {
  std::vector<pg::Uuid> sessions;
  for (int i = 0; i < kWorkers; i += 2) sessions.push_back(SessionOf(i));
  return store::Reclaim(session, lane_, sessions, model::QueueSettings(), 100).status();
}

std::vector<int64_t> Writers::Ids(pg::Session& session, const std::string& from,
                                  Random& random) const {
  const pg::Rows rows = Required(session.RunText(absl::StrCat("SELECT id FROM ", from)));
  std::vector<int64_t> ids;
  for (int row = 0; row < rows.size(); ++row) ids.push_back(rows.Int(row, 0));
  std::ranges::shuffle(ids, random);
  return ids;
}

std::vector<int64_t> Writers::LivingIds(pg::Session& session, Random& random) const {
  return Ids(session,
             "(SELECT id FROM skiplane.task UNION ALL SELECT id FROM skiplane.packed_task) t",
             random);
}

absl::Status Writers::Change(pg::Session& session, Random& random, Kind kind) {
  model::TaskChange change;
  change.kind = kind;
  return store::ChangeTasks(session, store::TaskTable::kLiving, lane_, LivingIds(session, random),
                            change, model::QueueSettings())
      .status();
}

// Under one of a few request ids, some of which others have.
absl::Status Writers::ChangeOnce(pg::Session& session, Random& random) {
  const model::RequestHash request{absl::StrCat("id-", random() % 3), ""};
  RETURN_IF_ERROR(session.RunText("BEGIN").status());
  const absl::StatusOr<bool> is_first = store::ClaimAdminRequest(session, request);
  absl::Status status = is_first.status();
  if (status.ok()) status = Change(session, random, Kind::kRetry);
  if (status.ok() && *is_first) status = store::NoteOutcome(session, request, "1");
  Required(session.RunText(status.ok() ? "COMMIT" : "ROLLBACK"));
  return status;
}

// As operators' changes are: rolled back when they fail.
absl::Status Writers::ChangeFailed(pg::Session& session, Random& random, Kind kind) {
  model::TaskChange change;
  change.kind = kind;
  const std::vector<int64_t> ids = Ids(session, "skiplane.task_failed", random);
  RETURN_IF_ERROR(session.RunText("BEGIN").status());
  const absl::Status status = store::ChangeTasks(session, store::TaskTable::kFailed, lane_, ids,
                                                 change, model::QueueSettings())
                                  .status();
  Required(session.RunText(status.ok() ? "COMMIT" : "ROLLBACK"));
  return status;
}

absl::Status Writers::Touch(pg::Session& session) {
  std::vector<store::Touch> touches;
  for (int i = 0; i < kWorkers; ++i) touches.push_back(TouchOf(i, model::NewSessionId()));
  return store::TouchSessions(session, touches).status();
}

absl::Status Writers::RenewSessions(pg::Session& session) {
  std::vector<store::SessionRenewal> renewals;
  for (int i = 0; i < kWorkers; ++i) renewals.push_back({WorkerOf(i), absl::Seconds(30), ""});
  return store::RenewSessions(session, renewals).status();
}

// Its workers then live again, so that the next one has sessions to end.
absl::Status Writers::End(pg::Session& session) {
  std::vector<store::SessionEnd> ends;
  for (int i = 0; i < kWorkers; ++i) ends.push_back({WorkerOf(i), absl::ZeroDuration()});
  RETURN_IF_ERROR(store::EndSessions(session, ends).status());
  return Touch(session);
}

absl::Status Writers::Tell(pg::Session& session) {
  std::vector<model::LeaseToken> taken;
  {
    base::MutexLock lock(mutex_);
    taken = leases_;
  }
  std::ranges::reverse(taken);
  return store::TellSessions(session, taken);
}

absl::Status Writers::Expire(pg::Session& session) {
  RETURN_IF_ERROR(store::ExpireSessions(session).status());
  RETURN_IF_ERROR(store::GrantGrace(session).status());
  std::vector<pg::Uuid> sessions;
  for (int i = kWorkers; i-- > 0;) sessions.push_back(SessionOf(i));
  RETURN_IF_ERROR(store::ForgetSessions(session, sessions).status());
  RETURN_IF_ERROR(store::ExpireKeys(session, lane_, 1, 100).status());
  return store::ExpireDefaults(session, 100).status();
}

absl::Status Writers::MendClock(pg::Session& session) {
  ASSIGN_OR_RETURN(const auto step, store::FindOpenClockStep(session));
  if (!step.has_value()) return absl::OkStatus();
  RETURN_IF_ERROR(store::MendSessions(session, *step, kWorkers).status());
  return store::MendTasks(session, *step, lane_, 0, 0, kKeys).status();
}

absl::Status Writers::Fold(pg::Session& session) const {
  RETURN_IF_ERROR(store::FoldCounts(session, lane_, 1000).status());
  RETURN_IF_ERROR(store::CleanCounts(session, lane_));
  RETURN_IF_ERROR(store::FoldErrors(session, lane_, 1000).status());
  RETURN_IF_ERROR(store::CleanErrors(session, lane_, 1000).status());
  RETURN_IF_ERROR(store::ForgetUnusedSessions(session, {}, 1000).status());
  RETURN_IF_ERROR(store::FoldLedger(session, lane_, 100).status());
  return store::ExpireStatistics(session, lane_);
}

}  // namespace skiplane::testing
