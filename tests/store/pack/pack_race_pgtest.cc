// Packs among many sessions: what they all do at once, on one lane, comes out as if each task had
// been treated alone. SKIPLANE_PACK_ROUNDS makes the run longer, SKIPLANE_TEST_SEED repeats what
// its threads pick, though not how they meet.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "server/base/status_macros.h"
#include "server/pg/conflicts.h"
#include "server/pg/transaction.h"
#include "server/store/counts.h"
#include "server/store/pack.h"
#include "server/store/sessions.h"
#include "server/store/task_change.h"
#include "tests/store/pack/race_claimer.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::testing {
namespace {

using store::Action;
using Random = std::mt19937_64;
using Kind = model::TaskChange::Kind;

constexpr int kTasks = 3000;
constexpr int kEnqueuers = 2;
constexpr int kClaimers = 4;
constexpr int kMaxAttempts = 1000;  // nothing fails

int64_t Given(const char* variable, int64_t otherwise) {
  const char* const given = std::getenv(variable);
  if (given != nullptr) Require(absl::SimpleAtoi(given, &otherwise), variable);
  return otherwise;
}

int Pick(Random& random, int least, int most) {
  return std::uniform_int_distribution(least, most)(random);
}

class PackRaceTest : public StoreHarness {
 protected:
  PackRaceTest()
      : tasks_(kTasks * Given("SKIPLANE_PACK_ROUNDS", 1)),
        next_(next_id_),
        race_(lane_, kTasks / 8, kEnqueuers, kClaimers) {
    // Only a superuser may say so; it holds for sessions that are opened from now on.
    Sql("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''20ms''', "
        "current_database()); END $$");
  }

  // Whoever waits where nobody should be waited for is told so in the end.
  std::unique_ptr<pg::Session> OpenBounded() const {
    std::unique_ptr<pg::Session> session = Open();
    Required(session->RunText("SET lock_timeout = '10s'"));
    return session;
  }

  void Enqueue(uint64_t seed);
  absl::Status EnqueueSome(pg::Session& session, Random& random);
  void Operate(uint64_t seed);
  absl::Status ChangeSome(pg::Session& session, Random& random);
  absl::Status ExpectOthersEnded(pg::Session& session, std::vector<int64_t> ids,
                                 const model::TaskChange& change, const store::Changes& changes);
  void Reap();
  absl::Status TakeBack(pg::Session& session, const Dead& dead);
  void RunAll(uint64_t seed);
  void DrainInOrder();
  void ExpectItCameOut();
  std::string HistoryLines();

  const int64_t tasks_;
  std::atomic<int64_t> next_;
  Race race_;
};

// A batch of one call, or of some with request ids of which the lane knows a few; in packs if they
// are enough. Some commit late, so that others have leased what lies behind them.
absl::Status PackRaceTest::EnqueueSome(pg::Session& session, Random& random) {
  const bool is_packed = Pick(random, 0, 3) > 0;
  const int count = is_packed ? Pick(random, 16, 150) : Pick(random, 1, 5);
  const bool is_typed = Pick(random, 0, 2) == 0;
  const int calls = Pick(random, 0, 1) == 0 ? Pick(random, 1, std::min(count, 8)) : 0;
  const auto priority = static_cast<int16_t>(Pick(random, 0, 3) == 0);
  const int64_t first = next_.fetch_add(count);
  const auto known_from = static_cast<uint64_t>(first / 20);
  std::vector<model::NewTask> tasks;
  for (int i = 0; i < count; ++i) tasks.push_back(RaceTask(first + i, is_typed, priority));
  std::vector<store::TaskRow> rows;
  std::vector<store::RequestRow> requests;
  for (int i = 0; i < count; ++i) {
    if (calls > 0 && i % (count / calls) == 0) {
      const std::string id = absl::StrCat("call-", known_from + random() % 60);
      const auto has_it = [&](const auto& request) { return request.request_id == id; };
      if (std::ranges::none_of(requests, has_it)) requests.push_back({lane_, id, "", first + i});
    }
    const int64_t call = requests.empty() ? 0 : requests.back().first_id;
    rows.push_back({{lane_, first + i}, &tasks[static_cast<size_t>(i)], kMaxAttempts, call});
  }
  std::ranges::sort(requests, {}, &store::RequestRow::request_id);
  const bool is_late = Pick(random, 0, 4) == 0;
  const auto made = pg::RepeatConflicts([&] {
    return pg::InTransaction(session, [&]() -> absl::StatusOr<store::Enqueued> {
      auto packed = store::EnqueuePacked(session, rows, requests);
      EXPECT_EQ(packed.has_value(), is_packed);
      if (!packed.has_value()) packed = store::EnqueueAsked(session, rows, requests);
      if (packed->ok() && is_late) race_.pacer.AwaitLeases(3);
      return *std::move(packed);
    });
  });
  RETURN_IF_ERROR(made.status());
  race_.log.Made(made->made);
  return absl::OkStatus();
}

void PackRaceTest::Enqueue(uint64_t seed) {
  Random random(seed);
  const auto session = OpenBounded();
  while (race_.log.MadeCount() < tasks_ && !HasFailure()) {
    EXPECT_THAT(EnqueueSome(*session, random), IsOk());
  }
  base::MutexLock lock(race_.mutex);
  --race_.enqueuers;
}

// What any state allows misses no task, also if a lease moves it meanwhile.
absl::Status PackRaceTest::ExpectOthersEnded(pg::Session& session, std::vector<int64_t> ids,
                                             const model::TaskChange& change,
                                             const store::Changes& changes) {
  if (change.kind != Kind::kPrioritize && change.kind != Kind::kCancel) return absl::OkStatus();
  std::erase_if(ids, [&](int64_t id) {
    return std::ranges::any_of(changes.tasks, [id](const auto& task) { return task.id == id; });
  });
  ASSIGN_OR_RETURN(const auto living, store::LivingTasks(session, lane_, ids));
  EXPECT_THAT(living, ::testing::IsEmpty());
  return absl::OkStatus();
}

// As operators' changes are: in a transaction of their own.
absl::Status PackRaceTest::ChangeSome(pg::Session& session, Random& random) {
  std::vector<int64_t> ids = Pick(random, 0, 3) == 0 ? race_.log.Living() : race_.log.Waiting();
  // Those behind the last lease are what leases take and split just then.
  if (Pick(random, 0, 3) == 0) {
    std::ranges::shuffle(ids, random);
  } else if (!ids.empty()) {
    const auto from = std::ranges::lower_bound(ids, race_.log.LastLeased());
    const auto behind = static_cast<size_t>(from - ids.begin() + Pick(random, 0, 20));
    std::ranges::rotate(ids, ids.begin() + static_cast<int>(behind % ids.size()));
  }
  constexpr Kind kKinds[] = {Kind::kPrioritize, Kind::kRunNow, Kind::kPostpone, Kind::kRunAt,
                             Kind::kCancel};
  model::TaskChange change;
  change.kind = kKinds[Pick(random, 0, 4)];
  ids.resize(std::min(ids.size(), 1 + random() % 5));
  change.priority = static_cast<int16_t>(Pick(random, 0, 2));
  change.postpone = Pick(random, 0, 3) == 0 ? absl::Hours(1) : absl::Milliseconds(1);
  change.schedule_time = absl::Now() + absl::Milliseconds(Pick(random, -5, 5));
  const bool is_late = Pick(random, 0, 1) == 0;
  const auto changes = pg::RepeatConflicts([&] {
    return pg::InTransaction(session, [&]() -> absl::StatusOr<store::Changes> {
      ASSIGN_OR_RETURN(const store::Changes changed,
                       store::ChangeTasks(session, store::TaskTable::kLiving, lane_, ids, change,
                                          model::QueueSettings()));
      RETURN_IF_ERROR(ExpectOthersEnded(session, ids, change, changed));
      if (is_late) race_.pacer.AwaitLeases(2);
      return changed;
    });
  });
  RETURN_IF_ERROR(changes.status());
  if (change.kind == Kind::kCancel) race_.log.Cancelled(changes->ended);
  return absl::OkStatus();
}

void PackRaceTest::Operate(uint64_t seed) {
  Random random(seed);
  const auto session = OpenBounded();
  const auto is_on = [this] {
    base::MutexLock lock(race_.mutex);
    return race_.claimers > 0;
  };
  while (is_on() && !HasFailure()) {
    EXPECT_THAT(ChangeSome(*session, random), IsOk());
    EXPECT_THAT(store::FoldCounts(*session, lane_, 20), IsOk());
    race_.pacer.AwaitLeases(2);
  }
}

// As upkeep does for sessions that fell silent, and brokers for those that were ended.
absl::Status PackRaceTest::TakeBack(pg::Session& session, const Dead& dead) {
  if (dead.is_silent) {
    for (const std::string& worker : dead.workers) {
      RETURN_IF_ERROR(session.RunText(absl::StrCat(
          "UPDATE skiplane.worker_session SET expire_time = now() WHERE worker_id = '", worker,
          "'")).status());
    }
    RETURN_IF_ERROR(store::ExpireSessions(session).status());
  } else {
    std::vector<store::SessionEnd> ends;
    for (const std::string& worker : dead.workers) ends.push_back({worker, absl::ZeroDuration()});
    RETURN_IF_ERROR(store::EndSessions(session, ends).status());
  }
  const Action as = dead.is_silent ? Action::kLost : Action::kRelease;
  while (!HasFailure()) {
    ASSIGN_OR_RETURN(const auto lanes, store::LedgerLanes(session, dead.sessions));
    if (lanes.empty()) break;
    const auto reclaimed = pg::RepeatConflicts([&] {
      return store::Reclaim(session, lane_, dead.sessions, model::QueueSettings(), 50, as);
    });
    RETURN_IF_ERROR(reclaimed.status());
    race_.log.Reclaimed(*reclaimed, as);
  }
  return store::ForgetSessions(session, dead.sessions).status();
}

void PackRaceTest::Reap() {
  const auto session = OpenBounded();
  while (true) {
    Dead dead;
    {
      base::MutexLock lock(race_.mutex);
      while (race_.dead.empty() && race_.claimers > 0) race_.has_dead.Wait(race_.mutex);
      if (race_.dead.empty()) return;
      dead = race_.dead.front();
      race_.dead.pop_front();
    }
    EXPECT_THAT(TakeBack(*session, dead), IsOk());
  }
}

void PackRaceTest::RunAll(uint64_t seed) {
  Random random(seed);
  std::vector<std::unique_ptr<Claimer>> claimers;
  std::vector<std::thread> threads;
  for (int i = 0; i < kClaimers; ++i) {
    claimers.push_back(
        std::make_unique<Claimer>(race_, OpenBounded(), OpenBounded(), i, random()));
  }
  for (const auto& claimer : claimers) threads.emplace_back([&claimer] { claimer->Run(); });
  for (int i = 0; i < kEnqueuers; ++i) {
    threads.emplace_back([this, own = random()] { Enqueue(own); });
  }
  threads.emplace_back([this, own = random()] { Operate(own); });
  threads.emplace_back([this] { Reap(); });
  for (std::thread& thread : threads) thread.join();
}

// With nobody beside it, one lease after the other has the order that tasks have.
void PackRaceTest::DrainInOrder() {
  const std::vector<int64_t> left = race_.log.Living();
  model::TaskChange change;
  change.kind = Kind::kRunNow;
  std::vector<int64_t> first(left.begin(), left.begin() + static_cast<int>(left.size() / 2));
  Required(store::ChangeTasks(*session_, store::TaskTable::kLiving, lane_, first, change, {}));
  Sql("UPDATE skiplane.task SET schedule_time = now() WHERE schedule_time > now()");
  std::vector<store::LeasedRow> all;
  while (true) {
    store::LeaseDemand demand = Demand(std::vector<int32_t>(37, 1));
    demand.has_packs = true;
    const std::vector<store::LeasedRow> rows = LeaseRaced(race_, *session_, demand);
    if (rows.empty()) break;
    all.insert(all.end(), rows.begin(), rows.end());
  }
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, [](const store::LeasedRow& row) {
    return std::tuple(row.task.priority, row.task.schedule_time, row.task.token.task.id);
  }));
  std::vector<int64_t> drained = IdsOf(all);
  std::ranges::sort(drained);
  EXPECT_EQ(drained, left);
  EXPECT_THAT(SettleRaced(race_, *session_, TokensOf(all), Action::kAck), ::testing::IsEmpty());
  base::MutexLock lock(race_.mutex);
  for (const RaceLog::Tokens& tokens : race_.zombies) {
    EXPECT_EQ(SettleRaced(race_, *session_, tokens, Action::kAck).size(), tokens.size());
  }
}

std::string PackRaceTest::HistoryLines() {
  const pg::Rows rows = Required(session_->RunText(
      "SELECT task_id, outcome, encode(uuid_send(session), 'hex') FROM ("
      "  SELECT task_id, outcome, session FROM skiplane.history WHERE ends_task UNION ALL"
      "  SELECT task_id, outcome, session FROM skiplane.packed_attempt) h "
      "ORDER BY task_id, outcome"));
  std::string lines;
  for (int row = 0; row < rows.size(); ++row) {
    absl::StrAppend(&lines, rows.Int(row, 0), " ", rows.Int(row, 1), " ", rows.Text(row, 2), "\n");
  }
  return lines;
}

void PackRaceTest::ExpectItCameOut() {
  race_.log.ExpectEachTaskEndedOnce();
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_pack"), 0);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task_failed"), 0);
  EXPECT_THAT(store::CountUnfinished(*session_, {lane_}), IsOkAndHolds(0));
  EXPECT_EQ(HistoryLines(), race_.log.History());
  const auto attempts = [this](int outcome) {
    return Number(absl::StrCat("SELECT count(*) FROM skiplane.history WHERE NOT ends_task AND ",
                               "outcome = ", outcome));
  };
  EXPECT_EQ(attempts(2), race_.log.Count(Action::kRetry));
  EXPECT_EQ(attempts(4), race_.log.Count(Action::kLost));
  ExpectExactCounts();
  while (Required(store::FoldCounts(*session_, lane_, 1000)) > 0) continue;
  model::QueueCounts counts;
  for (const auto& [lane_stage, part] : Required(store::ReadCounts(*session_))) counts += part;
  EXPECT_EQ(counts.ready, 0);
  EXPECT_EQ(counts.scheduled, 0);
  EXPECT_EQ(counts.leased, 0);
  EXPECT_EQ(counts.failed, 0);
  EXPECT_EQ(counts.succeeded, race_.log.Count(Action::kAck));
  EXPECT_EQ(counts.cancelled, race_.log.Count(Action::kCancel));
  EXPECT_EQ(counts.succeeded + counts.cancelled, race_.log.MadeCount());
}

TEST_F(PackRaceTest, EachTaskEndsOnceAndNothingIsLost) {
  const int64_t seed = Given("SKIPLANE_TEST_SEED", std::random_device()() % 1000000);
  RecordProperty("seed", static_cast<int>(seed));
  std::cout << "SKIPLANE_TEST_SEED=" << seed << std::endl;
  RunAll(static_cast<uint64_t>(seed));
  if (HasFailure()) return;
  DrainInOrder();
  ExpectItCameOut();
}

}  // namespace
}  // namespace skiplane::testing
